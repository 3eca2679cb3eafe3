-- Compiles programs of Lua, of which it runs nothing, and looks for what they require.
local function tell(...)
	local cells = { ... }
	for i, c in ipairs(cells) do cells[i] = tostring(c):gsub("[\t\r\n]+", " "):sub(1, 400) end
	print(table.concat(cells, "\t"))
end
local function place(name)
	if package.loaded[name] or package.preload[name] then return "built-in" end
	local rel = name:gsub("%.", "/")
	for pattern in (package.path .. ";" .. package.cpath):gmatch("[^;]+") do
		local at = pattern:gsub("%?", rel)
		local f = at:sub(1, 1) == "/" and io.open(at)
		if f then f:close() return at end
	end
end
for n = 1, #arg do
	local f, err = loadfile(arg[n])
	if not f then tell(n - 1, err:match(":(%d+):") or 0, "syntax", "", err) end
	local at = 0
	local file = io.open(arg[n])
	if file then
		for line in file:lines() do
			at = at + 1
			local name = line:match("^[^-]*require%s*%(?%s*['\"]([%w_.-]+)['\"]")
			if name then
				local found = place(name)
				if found then tell(n - 1, at, "has", name, found) else tell(n - 1, at, "module", name, "module '" .. name .. "' not found") end
			end
		end
		file:close()
		tell(n - 1, 0, "asked", "", "")
	end
end
