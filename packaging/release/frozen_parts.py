"""What goes into the frozen program and what stays out: read by loci.spec, compared with the tree by a test."""

from __future__ import annotations

from pathlib import PurePosixPath

ROOMS = ("app", "core", "ui", "resources")
"""Packages that are taken whole: verbs, jobs and importers are found by name."""
HIDDEN = (
    "keyring.backends.SecretService",
    "keyring.backends.kwallet",
    "keyring.backends.macOS",
    "keyring.backends.Windows",
    "sqlcipher3.dbapi2",
)
"""Modules that are loaded by a name in a text."""
EXCLUDED = (
    "tkinter",
    "unittest",
    "pydoc",
    "doctest",
    "setuptools",
    "pip",
    "matplotlib",
    "scipy",
    "pandas",
    "IPython",
    "pytest",
    "hypothesis",
    "mypy",
    "OpenGL",
    "numpy.f2py",
    "PySide6.QtQml",
    "PySide6.QtQuick",
    "PySide6.QtQuickWidgets",
    "PySide6.QtDesigner",
    "PySide6.QtHelp",
    "PySide6.QtSql",
    "PySide6.QtUiTools",
    "PySide6.QtOpenGL",
    "PySide6.QtOpenGLWidgets",
    "PySide6.QtPrintSupport",
)
"""Modules that libraries would take along and Loci never imports."""
QT_LIBRARIES = frozenset(
    f"libQt6{name}.so.6"
    for name in ("Core", "DBus", "Gui", "Network", "OpenGL", "Svg", "Test", "WaylandClient", "Widgets", "XcbQpa")
)
"""The libraries of Qt that the window and its plugins load; Test is what pyqtgraph imports."""
QT_PLUGINS = frozenset(
    {
        "iconengines/libqsvgicon.so", "imageformats/libqsvg.so", "imageformats/libqico.so",
        "platforminputcontexts/libcomposeplatforminputcontextplugin.so",
        "platforminputcontexts/libibusplatforminputcontextplugin.so",
        "platforms/libqoffscreen.so", "platforms/libqwayland.so", "platforms/libqxcb.so",
        "platformthemes/libqxdgdesktopportal.so",
        "wayland-decoration-client/libadwaita.so", "wayland-decoration-client/libbradient.so",
        "wayland-graphics-integration-client/libqt-plugin-wayland-egl.so", "wayland-shell-integration/libxdg-shell.so",
        "xcbglintegrations/libqxcb-egl-integration.so", "xcbglintegrations/libqxcb-glx-integration.so",
    }
)  # fmt: skip
"""The plugins of Qt on Linux. Not the theme of GTK: it would load the system's GTK over libraries of this program."""
SYSTEM_LIBRARIES = ("libstdc++.so", "libgcc_s.so")
"""Left to the system: its graphics drivers need them as new as it has them, and every system of this age has them."""
GTK_LIBRARIES = (
    "libatk-", "libcairo", "libdatrie.", "libfribidi.", "libgdk", "libgtk", "libpango", "libpixman-", "libthai.",
)  # fmt: skip
"""What only the theme of GTK needed."""
MACOS_INFO = {
    "CFBundleDisplayName": "Loci",
    "CFBundleShortVersionString": "0.1.0",
    "LSApplicationCategoryType": "public.app-category.productivity",
    "NSHighResolutionCapable": True,
}


def is_left_out(place: str) -> bool:
    """Whether a file that PyInstaller collected is of no use to Loci, or does harm.

    Args:
        place: where it would lie in the program's folder.
    """
    path = PurePosixPath(place.replace("\\", "/"))
    if path.name.startswith((*SYSTEM_LIBRARIES, *GTK_LIBRARIES)):
        return True
    if path.name.startswith("libQt6") and ".so" in path.name:
        return path.name not in QT_LIBRARIES
    if "PySide6" in path.parts and "plugins" in path.parts and path.suffix == ".so":
        return "/".join(path.parts[-2:]) not in QT_PLUGINS
    return "PySide6" in path.parts and path.parts[-2:-1] == ("translations",)
