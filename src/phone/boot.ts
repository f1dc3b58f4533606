/** The page's first script. It imports nothing at once, so that it runs while the rest of the page is still loading. */

/** A notification leads to a session: what that shows is loaded beside the page itself, and not file by file. */
function loadSessionFiles(): void {
  const files = document.querySelector<HTMLMetaElement>("meta[name=session-files]")?.content ?? "";
  for (const href of files.split(" ")) {
    document.head.append(Object.assign(document.createElement("link"), { rel: "modulepreload", href }));
  }
}

if (/^#\/(?:s|inbox)\//.test(location.hash)) loadSessionFiles();
// The list is shown: a tap on it leads to a session.
else addEventListener("svc-list-shown", loadSessionFiles, { once: true });
void import("./begin.ts");
