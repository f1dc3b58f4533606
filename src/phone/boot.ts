/** The page's first script. It has no static imports, so it runs while the rest of the page is still loading. */

/** Loads the files of the session view all at once, in parallel with the page: a notification opens a session. */
function loadSessionFiles(): void {
  const files = document.querySelector<HTMLMetaElement>("meta[name=session-files]")?.content ?? "";
  for (const href of files.split(" ")) {
    document.head.append(Object.assign(document.createElement("link"), { rel: "modulepreload", href }));
  }
}

if (/^#\/(?:s|inbox)\//.test(location.hash)) loadSessionFiles();
// Once the list is shown, a tap on it opens a session.
else addEventListener("svc-list-shown", loadSessionFiles, { once: true });
void import("./begin.ts");
