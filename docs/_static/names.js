// The buttons of the navigation that show the pages of a section have no names in the theme.
document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll(".bd-sidebar summary")) {
    button.setAttribute("aria-label", "Pages of this section");
  }
});
