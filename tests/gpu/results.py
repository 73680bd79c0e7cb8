"""Reads the results of run_all.sh: the files in RESULTS/results.tar.gz, or plain files in RESULTS."""
import pathlib
import tarfile

ARCHIVE = "results.tar.gz"
SUMMARY = "summary.json"


def read_files(folder):
    """Returns the content of each result file as bytes, by name. Raises OSError or tarfile.TarError."""
    folder = pathlib.Path(folder)
    archive = folder / ARCHIVE
    if not archive.is_file():
        return {file.name: file.read_bytes() for file in sorted(folder.iterdir())
                if file.is_file() and file.name != SUMMARY}
    with tarfile.open(archive) as tar:
        return {pathlib.PurePath(member.name).name: tar.extractfile(member).read()
                for member in tar.getmembers() if member.isfile()}
