package migration

import (
	"path"
	"strings"

	"svc/assess"
	"svc/backend/lazyregexp"
	"svc/tools/migration/naming"
)

// ClusterName is what Debian's tools call a cluster by.
var ClusterName = lazyregexp.New(`^[a-zA-Z0-9_][a-zA-Z0-9_.-]*$`)

// clusterFolders are where Debian's tools have the settings of clusters, and by default
// their data: a folder for each version, and in it one for each name.
const (
	clusterSettings = "/etc/postgresql"
	clusterData     = "/var/lib/postgresql"
)

// clusters are those of Debian's tools that the target's package does not make: all beside main,
// and main where its data are elsewhere.
func clusters(in Input, where naming.Places) (all []Cluster) {
	if in.Target.Family.Conventions().Manager != "apt" {
		return nil
	}
	for _, d := range in.Assessment.Databases {
		_, to, moved := where.File(d.Evidence.Path)
		settings := path.Dir(to)
		version := path.Base(path.Dir(settings))
		data := strings.Replace(d.Directory, "/postgresql/"+d.Version+"/", "/postgresql/"+version+"/", 1)
		switch {
		case d.Engine != "postgresql" || d.Port == 0 || !path.IsAbs(d.Directory) || !ClusterName.MatchString(d.Name) || !assess.PlainVersion.MatchString(version):
		case d.Name == "main" && data == path.Join(clusterData, version, d.Name):
		case settings != path.Join(clusterSettings, version, d.Name), !moved && versionDiffers(in, to), where.Gone(d.Package):
		default:
			all = append(all, Cluster{version, d.Name, d.Port, data})
		}
	}
	return all
}
