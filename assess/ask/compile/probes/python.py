# Reads programs of Python as this interpreter does, and runs nothing of them. Of each: a
# line that it can't compile, modules that are not there, and names that a module has no more.
import ast, os, sys, warnings
warnings.simplefilter('ignore')
try:
    from importlib.machinery import PathFinder
except ImportError:
    PathFinder = None
out = getattr(sys.stdout, 'buffer', sys.stdout)
stdlib = os.path.dirname(os.path.abspath(os.__file__))
guards = ('version_info', 'hexversion', 'TYPE_CHECKING', 'PY2', 'PY3', 'platform')
apart = ('this', 'antigravity', 'idlelib', 'turtledemo', '__main__', 'test', 'lib2to3')


def say(*cells):
    line = '\t'.join(str(c).replace('\t', ' ').replace('\n', ' ').replace('\r', ' ')[:400] for c in cells) + '\n'
    out.write(line.encode('utf-8', 'replace') if sys.version_info[0] > 2 else line)


def places(spec):
    try:
        return list(spec.submodule_search_locations)
    except Exception:
        return list(getattr(spec.submodule_search_locations, '_path', []))


def find(name, path):
    "where a module is, by files alone: (place, its folders); None where it is not"
    at, full = None, ''
    for part in name.split('.'):
        full = full + '.' + part if full else part
        if full in sys.builtin_module_names or full in ('zipimport', '_frozen_importlib', '_frozen_importlib_external'):
            at, path = ('built-in', None), None
            continue
        if at is not None and path is None:
            return at if full == 'os.path' else None
        try:
            spec = PathFinder.find_spec(full, path)
        except Exception:
            return ('unsure', None)
        if spec is None:
            return None
        path = places(spec) if spec.submodule_search_locations is not None else None
        at = (spec.origin if spec.origin not in (None, 'namespace') else 'namespace', path)
    return at


known = {}


def tops(body, names, path, package):
    "names that a module's text gives itself; False where it makes some as it runs"
    for s in body:
        if isinstance(s, (ast.FunctionDef, ast.ClassDef, getattr(ast, 'AsyncFunctionDef', ast.ClassDef))):
            names.add(s.name)
            if s.name == '__getattr__':
                return False
            for sub in ast.walk(s):
                if isinstance(sub, ast.Global):
                    names.update(sub.names)
            continue
        if isinstance(s, ast.ImportFrom) and any(a.name == '*' for a in s.names):
            return False
        if isinstance(s, (ast.Import, ast.ImportFrom)):
            names.update((a.asname or a.name.split('.')[0]) for a in s.names)
        for field in ('body', 'orelse', 'finalbody'):
            if not tops(getattr(s, field, None) or [], names, path, package):
                return False
        for h in getattr(s, 'handlers', []):
            if not tops(h.body, names, path, package):
                return False
        if not hasattr(s, 'body'):
            for sub in ast.walk(s):
                if isinstance(sub, ast.Name) and isinstance(sub.ctx, (ast.Store, ast.Del)):
                    names.add(sub.id)
        else:
            for part in (getattr(s, 'target', None), [i.optional_vars for i in getattr(s, 'items', [])]):
                for one in part if isinstance(part, list) else [part]:
                    names.update(sub.id for sub in ast.walk(one) if isinstance(sub, ast.Name)) if one is not None else None
    return True


def names(module, path):
    "what asks a module for a name: True, False, or None where nobody knows"
    if module in known:
        return known[module]
    known[module] = lambda name: None
    at = find(module, path)
    if at is None or at[0] in ('unsure', 'namespace') or module.split('.')[0] in apart:
        return known[module]
    origin = at[0]
    own = origin == 'built-in' or os.path.abspath(origin).startswith(stdlib + os.sep) and '-packages' not in origin
    if own:
        try:
            loaded = __import__(module, fromlist=['_'])
        except BaseException:
            return known[module]
        known[module] = lambda name: bool(hasattr(loaded, name) or find(module + '.' + name, path))
        return known[module]
    try:
        with open(origin, 'rb') as f:
            text = f.read(1 << 21)
        tree = ast.parse(text)
    except Exception:
        return known[module]
    has = set(['__name__', '__file__', '__doc__', '__path__', '__dict__', '__spec__', '__package__', '__loader__'])
    if tops(tree.body, has, path, module) and not any(w in text for w in (b'globals()', b'vars()', b'locals()', b'sys.modules', b'__getattr__')):
        known[module] = lambda name: name in has or bool(find(module + '.' + name, path))
    return known[module]


class Reader(ast.NodeVisitor):
    "the imports of a program, and the names that it takes of modules, but those it is ready to miss"

    def __init__(self):
        self.imports, self.taken, self.bound, self.other, self.soft = [], [], {}, set(), 0

    def within(self, nodes, soft):
        self.soft += soft
        for n in nodes:
            self.visit(n)
        self.soft -= soft

    def visit_Try(self, node):
        caught = [n.id if isinstance(n, ast.Name) else n.attr for h in node.handlers if h.type is not None for n in ast.walk(h.type) if isinstance(n, (ast.Name, ast.Attribute))]
        bare = any(h.type is None for h in node.handlers)
        soft = bare or any(c in ('ImportError', 'ModuleNotFoundError', 'AttributeError', 'NameError', 'Exception', 'BaseException') for c in caught)
        self.within(node.body, soft)
        self.within(node.handlers, soft)
        self.within(node.orelse + getattr(node, 'finalbody', []), soft)

    visit_TryStar = visit_TryExcept = visit_Try

    def visit_If(self, node):
        words = [getattr(n, 'attr', getattr(n, 'id', '')) for n in ast.walk(node.test)]
        soft = any(w in guards or w in ('hasattr', 'find_spec') for w in words)
        self.visit(node.test)
        self.within(node.body + node.orelse, soft)

    visit_IfExp = lambda self, node: self.within(list(ast.iter_child_nodes(node)), any(getattr(n, 'attr', getattr(n, 'id', '')) in guards + ('hasattr',) for n in ast.walk(node.test)))

    def visit_Import(self, node):
        for a in node.names:
            if not self.soft:
                self.imports.append((a.name, None, node.lineno))
            name = a.asname or a.name.split('.')[0]
            module = a.name if a.asname else name
            if self.bound.setdefault(name, module) != module:
                self.other.add(name)

    def visit_ImportFrom(self, node):
        if node.level:
            return
        for a in node.names:
            if not self.soft:
                self.imports.append((node.module, a.name, node.lineno))
            self.other.add(a.asname or a.name)

    def visit_Name(self, node):
        if not isinstance(node.ctx, ast.Load):
            self.other.add(node.id)

    def visit_arg(self, node):
        self.other.add(node.arg)
        self.generic_visit(node)

    def visit_FunctionDef(self, node):
        self.other.add(node.name)
        self.generic_visit(node)

    visit_ClassDef = visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Attribute(self, node):
        if isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load) and not self.soft:
            self.taken.append((node.value.id, node.attr, node.lineno))
        self.generic_visit(node)


def look(n, name):
    with open(name, 'rb') as f:
        text = f.read(1 << 21)
    try:
        tree = compile(text, name, 'exec', ast.PyCF_ONLY_AST, 1)
        compile(tree, name, 'exec', 0, 1)
    except SyntaxError as e:
        say(n, e.lineno or 0, 'syntax', '', type(e).__name__ + ': ' + str(e.msg))
        return
    except Exception as e:
        say(n, 0, 'syntax', '', type(e).__name__ + ': ' + str(e))
        return
    if PathFinder is None:
        return
    folder, home = os.path.dirname(name), '/'.join(name.split('/')[:3 if name.startswith('/home/') else 2])
    path = [folder] + [p for p in sys.path if p] + [home + '/.local/lib/python%d.%d/site-packages' % sys.version_info[:2]]
    known.clear()
    r = Reader()
    r.visit(tree)
    seen = set()
    for module, taken, line in r.imports:
        at = find(module, path)
        if (module, taken) in seen:
            continue
        seen.add((module, taken))
        if at is None:
            say(n, line, 'module', module, 'ModuleNotFoundError: No module named ' + repr(module))
            continue
        if at[0].startswith('/') and not at[0].startswith(folder + '/'):
            say(n, line, 'has', module, at[0])
        if taken not in (None, '*'):
            name_of(n, line, module, taken, path)
    for bound, taken, line in r.taken:
        if bound in r.bound and bound not in r.other and (bound, taken, 0) not in seen:
            seen.add((bound, taken, 0))
            name_of(n, line, r.bound[bound], taken, path)


def name_of(n, line, module, taken, path):
    has = names(module, path)(taken)
    if not has:
        say(n, line, 'name' if has is False else 'unsure', module + '.' + taken, 'module %r has no attribute %r' % (module, taken))


sys.setrecursionlimit(5000)
for n, name in enumerate(sys.argv[1:]):
    try:
        look(n, name)
        say(n, 0, 'asked', '', '')
    except Exception as e:
        say(n, 0, 'failed', '', e)
    out.flush()
