// Compiles programs for Node.js, of which it runs nothing, and looks for what they require.
const fs = require('fs'), vm = require('vm'), mod = require('module');
const clean = (c) => String(c).replace(/[\t\r\n]+/g, ' ').slice(0, 400);
const tell = (...cells) => fs.writeSync(1, cells.map(clean).join('\t') + '\n');
process.argv.slice(1).forEach((name, n) => {
	try {
		const text = fs.readFileSync(name, 'utf8').replace(/^#!.*/, '');
		const isModule = name.endsWith('.mjs') || !name.endsWith('.cjs') && /^\s*(import\s[^(]*from\s|import\s*['"]|export\s)/m.test(text);
		try {
			if (isModule) new vm.SourceTextModule(text, { identifier: name });
			else new vm.Script(mod.wrap(text), { filename: name });
		} catch (e) {
			const at = /:(\d+)/.exec(String(e.stack).split('\n')[0]);
			tell(n, at ? at[1] : 0, 'syntax', '', e.name + ': ' + e.message);
		}
		const require_ = mod.createRequire(name);
		text.split('\n').forEach((line, i) => {
			if (/^\s*(\/\/|\*)/.test(line)) return;
			for (const m of line.matchAll(/\brequire\(\s*['"]([^'"$]+)['"]\s*\)|^\s*import\s[^'"(]*['"]([^'"]+)['"]/g)) {
				const what = m[1] || m[2];
				if (what.startsWith('.')) continue;
				try {
					const at = require_.resolve(what);
					if (at.startsWith('/')) tell(n, i + 1, 'has', what, at);
				} catch (e) {
					if (e.code === 'MODULE_NOT_FOUND') tell(n, i + 1, 'module', what, "Cannot find module '" + what + "'");
				}
			}
		});
		tell(n, 0, 'asked', '', '');
	} catch (e) {
		tell(n, 0, 'failed', '', e.message);
	}
});
