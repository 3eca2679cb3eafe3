// What .pkla files said, which polkit reads no more, by their own order: entries for
// everybody first, then those for groups, then those for users; of a folder the last that
// fits counts, and what a later folder says holds. See pkla-check-authorization(8).
function localAuthority(folders, action, subject) {
	var holds = null;
	function fits(glob, text) {
		var pattern = glob.replace(/[.+^${}()|[\]\\\/]/g, "\\$&").replace(/\*/g, "[\\s\\S]*").replace(/\?/g, "[\\s\\S]");
		return new RegExp("^" + pattern + "$").test(text);
	}
	function consult(isMeant) {
		folders.forEach(function(entries) {
			var last = entries.filter(function(entry) {
				return entry.who.some(isMeant) && entry.what.some(function(what) { return fits(what, action.id); });
			}).pop() || {};
			holds = (!subject.local ? last.any : subject.active ? last.active : last.inactive) || holds;
		});
	}
	consult(function(who) { return who == "default"; });
	subject.groups.forEach(function(group) {
		consult(function(who) { return fits(who, "unix-group:" + group); });
	});
	consult(function(who) { return who.indexOf("unix-netgroup:") == 0 && subject.isInNetGroup(who.substring(14)); });
	consult(function(who) { return fits(who, "unix-user:" + subject.user); });
	return holds;
}
