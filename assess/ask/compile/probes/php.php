// Has PHP check the syntax of programs (php -l), and tells which of its own functions and
// classes they name. Nothing of them is run.
$tell = function (...$cells) {
	echo implode("\t", array_map(fn ($c) => substr(str_replace(["\t", "\r", "\n"], ' ', (string) $c), 0, 400), $cells)), "\n";
};
$files = array_slice($argv, 1);
$began = microtime(true);
$check = function (array $names) {
	$said = '';
	$p = proc_open(array_merge([PHP_BINARY, '-n', '-d', 'display_errors=1', '-d', 'error_reporting=' . (E_ALL & ~E_DEPRECATED), '-l'], $names), [['file', '/dev/null', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes);
	if ($p) {
		$said = stream_get_contents($pipes[1]) . stream_get_contents($pipes[2]);
		proc_close($p);
	}
	return $said;
};
$texts = [];
foreach (array_chunk($files, PHP_VERSION_ID >= 80300 ? 100 : 1, true) as $some) {
	if (microtime(true) - $began > 40) {
		break;
	}
	$said = $check(array_values($some));
	foreach ($some as $n => $name) {
		$texts[$n] = (string) file_get_contents($name, false, null, 0, 1 << 21);
		foreach (explode("\n", $said) as $line) {
			if (preg_match('/^(?:PHP )?((?:Parse|Fatal|Compile) error:.*) in ' . preg_quote($name, '/') . ' on line (\d+)/', $line, $m)) {
				$tell($n, $m[2], 'syntax', '', $m[1]);
				break;
			}
		}
		$tell($n, 0, 'asked', '', '');
	}
}
if (!function_exists('token_get_all')) {
	return;
}
$own = $uses = [];
foreach ($texts as $n => $text) {
	$tokens = array_values(array_filter(token_get_all($text), fn ($t) => !is_array($t) || !in_array($t[0], [T_WHITESPACE, T_COMMENT, T_DOC_COMMENT])));
	$quoted = [];
	foreach ($tokens as $t) {
		if (is_array($t) && $t[0] == T_CONSTANT_ENCAPSED_STRING) {
			$quoted[strtolower(trim($t[1], "'\""))] = true; // function_exists('name')
		}
	}
	foreach ($tokens as $i => $t) {
		$plain = is_array($t) && ($t[0] == T_STRING || defined('T_NAME_FULLY_QUALIFIED') && $t[0] == T_NAME_FULLY_QUALIFIED);
		if (!$plain) {
			continue;
		}
		$name = strtolower(ltrim($t[1], '\\'));
		$before = $tokens[$i - 1] ?? '';
		$kind = is_array($before) ? $before[0] : $before;
		$next = $tokens[$i + 1] ?? '';
		if (in_array($kind, [T_FUNCTION, T_CLASS, T_INTERFACE, T_TRAIT], true)) {
			$own[$name] = true;
			continue;
		}
		$called = $next === '(' && !in_array($kind, [T_OBJECT_OPERATOR, T_DOUBLE_COLON, T_NEW, defined('T_NULLSAFE_OBJECT_OPERATOR') ? T_NULLSAFE_OBJECT_OPERATOR : -1, T_NS_SEPARATOR, '&'], true);
		$class = $kind === T_NEW || $kind === T_EXTENDS || is_array($next) && $next[0] == T_DOUBLE_COLON;
		if (isset($quoted[$name]) || !$called && !$class) {
			continue;
		}
		$key = ($called ? 'function ' : 'class ') . $name;
		if (!isset($uses[$key]) || count($uses[$key]) < 8 && !isset($uses[$key][$n])) {
			$uses[$key][$n] = $t[2];
		}
	}
}
foreach ($uses as $key => $where) {
	[$kind, $name] = explode(' ', $key);
	try {
		if ($kind == 'function') {
			$r = function_exists($name) ? new ReflectionFunction($name) : null;
		} else {
			$r = class_exists($name, false) || interface_exists($name, false) ? new ReflectionClass($name) : null;
		}
	} catch (Throwable $e) {
		$r = null;
	}
	if (!$r || !$r->isInternal()) {
		$r = null;
	}
	if (!$r && !isset($own[$name])) {
		continue;
	}
	foreach ($where as $n => $line) {
		$tell($n, $line, 'uses', $key, $r && $r->getExtensionName() ? 'extension ' . $r->getExtensionName() : '');
	}
}
