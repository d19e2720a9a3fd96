"use strict";
// Before the first paint: the page is drawn by a script, and in the colours that were chosen last.
document.documentElement.classList.add("js");
try {
  const theme = localStorage.getItem("dynbench-theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch {
  // a page opened from a file may have no storage
}
