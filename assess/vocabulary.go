package assess

// The ways in which an interface gets its addresses.
const (
	MethodStatic = "static"
	MethodDHCP   = "dhcp"
	MethodNone   = "none" // it is a part of another
)

// The kinds of interfaces that are built of others.
const (
	KindBond   = "bond"
	KindBridge = "bridge"
	KindVLAN   = "vlan"
)

// The managers of services.
const (
	ManagerSystemd = "systemd"
	ManagerSysV    = "sysv"
	ManagerUpstart = "upstart"
	ManagerOpenRC  = "openrc"
	ManagerXinetd  = "xinetd"
	ManagerInetd   = "inetd"
)

// The states of a service.
const (
	StateEnabled  = "enabled"
	StateDisabled = "disabled"
	StateMasked   = "masked"
	StateStatic   = "static" // something else starts it
	StateLinked   = "linked" // known by a link to a file outside of the manager's folders
)
