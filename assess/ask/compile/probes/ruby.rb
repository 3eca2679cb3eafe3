# Compiles programs of Ruby, of which it runs nothing, and looks for what they require.
$stdout.sync = true
def tell(*cells)
  puts(cells.map { |c| c.to_s.b.tr("\t\r\n", " ")[0, 400] }.join("\t"))
end

def place(name)
  at = $LOAD_PATH.respond_to?(:resolve_feature_path) ? $LOAD_PATH.resolve_feature_path(name) : RubyVM.resolve_feature_path(name)
  return at[1] if at
  spec = defined?(Gem) && (Gem::Specification.find_by_path(name) || Gem.find_unresolved_default_spec(name))
  spec ? spec.loaded_from : nil
rescue LoadError
  nil
end

ARGV.each_with_index do |name, n|
  begin
    text = File.binread(name, 1 << 21).force_encoding("UTF-8")
    begin
      RubyVM::InstructionSequence.compile(text, name, name)
    rescue SyntaxError => e
      lines = e.message.b.lines
      first = lines.find { |l| l =~ /^[^:]*:\d+: / } || lines[0]
      tell(n, first[/:(\d+):/, 1] || lines.map { |l| l[/^> *(\d+) \|/, 1] }.compact.first || 0, "syntax", "", first)
    end
    text.b.each_line.with_index(1) do |l, at|
      break if l =~ /^__END__/
      next unless l =~ /^\s*require\s*\(?\s*['"]([\w\/.-]+)['"]/
      found = place($1)
      found ? tell(n, at, "has", $1, found) : tell(n, at, "module", $1, "cannot load such file -- #{$1}")
    end
    tell(n, 0, "asked", "", "")
  rescue StandardError, SystemCallError => e
    tell(n, 0, "failed", "", e.message)
  end
end
