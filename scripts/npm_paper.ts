/** Fits a document to the npm package, which has only a few of the repository's files. */

/** Markdown's links, and HTML's images. */
const LINK = /(?<!!)\[([^\]]*)\]\(([^)\s]+)\)/g;
const IMAGE = /<img src="([^"]+)"([^>]*)>/g;

/**
 * Leads each link to a file that is not packed to the repository at `repository`, such as `https://host/owner/name`, and
 * leaves such links and images out if it is unknown.
 */
export function fitPaper(
  text: string,
  { repository, packed }: { repository: string | undefined; packed: readonly string[] },
): string {
  const isElsewhere = (target: string): boolean =>
    !/^(?:[a-z]+:|#)/.test(target) && !packed.includes(target.replace(/#.*$/, ""));
  return text
    .replace(LINK, (link, label: string, target: string) => {
      if (!isElsewhere(target)) return link;
      return repository === undefined ? label : `[${label}](${repository}/blob/HEAD/${target})`;
    })
    .replace(IMAGE, (image, target: string, rest: string) => {
      if (!isElsewhere(target)) return image;
      return repository === undefined ? "" : `<img src="${repository}/raw/HEAD/${target}"${rest}>`;
    });
}
