"""Takes the role's files to the machine as one archive, for the module of the same name.

What the task names is data: it goes into the archive as JSON, and the contents of
files beside it by their numbers.
"""

import io
import json
import tarfile
import tempfile

from ansible.plugins.action import ActionBase


def pack(archive, manifest, find):
    """Write the archive: the manifest, and the content of its file 0 as 0."""
    with tarfile.open(fileobj=archive, mode="w:gz", compresslevel=6) as tar:
        text = json.dumps(manifest).encode()
        head = tarfile.TarInfo("manifest")
        head.size = len(text)
        tar.addfile(head, io.BytesIO(text))
        for number, entry in enumerate(manifest["files"]):
            with open(find(entry["src"]), "rb") as content:
                head = tarfile.TarInfo(str(number))
                head.size = content.seek(0, io.SEEK_END)
                content.seek(0)
                tar.addfile(head, content)
    archive.flush()


class ActionModule(ActionBase):
    TRANSFERS_FILES = True

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        folder = self._make_tmp_path()
        remote = self._connection._shell.join_path(folder, "files.tar.gz")
        try:
            with tempfile.NamedTemporaryFile() as archive:  # for this user alone
                pack(archive, dict(self._task.args), lambda src: self._find_needle("files", src))
                self._transfer_file(archive.name, remote)
            self._fixup_perms2((folder, remote))
            return self._execute_module(module_name="svc_files", module_args={"archive": remote}, task_vars=task_vars)
        finally:
            self._remove_tmp_path(folder)
