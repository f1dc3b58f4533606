/** Restricts a browser to the fonts of one system. */
import { FONTS } from "../../scripts/fonts.ts";

/** DejaVu is installed on the tests' system; its fixed-width font also serves families without one. */
export const FAMILIES = {
  dejavu: { sans: "DejaVu Sans", mono: "DejaVu Sans Mono" },
  noto: { sans: "Noto Sans", mono: "DejaVu Sans Mono" },
  liberation: { sans: "Liberation Sans", mono: "Liberation Mono" },
} as const;
export type Family = keyof typeof FAMILIES;

const SYSTEM = "/usr/share/fonts/truetype/dejavu";

/** Writes a font configuration to `folder` and returns the environment variables that make a browser use it. */
export async function fontEnvironment(family: Family, folder: string): Promise<Record<string, string>> {
  const { sans, mono } = FAMILIES[family];
  const prefer = (generic: string, name: string): string =>
    `<alias binding="strong"><family>${generic}</family><prefer><family>${name}</family></prefer></alias>`;
  const folders = [SYSTEM, ...(family === "dejavu" ? [] : [`${FONTS}/${family}`])];
  const file = `${folder}/fonts.conf`;
  await Deno.writeTextFile(
    file,
    [
      '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>',
      ...folders.map((one) => `<dir>${one}</dir>`),
      `<cachedir>${folder}/fontcache</cachedir>`,
      ...["sans-serif", "system-ui", "serif"].map((generic) => prefer(generic, sans)),
      prefer("monospace", mono),
      // The font for requests without a family name.
      `<match target="pattern"><edit name="family" mode="append_last"><string>${sans}</string></edit></match>`,
      "</fontconfig>",
    ].join("\n"),
  );
  return { FONTCONFIG_FILE: file };
}
