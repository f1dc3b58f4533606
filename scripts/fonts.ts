/** Fonts of other systems for the tests, unpacked from Debian's packages into a folder that only the tests use. */
import { fileURLToPath } from "node:url";

/** Android's fonts, and those that many desktops use in place of Arial and Courier. */
export const FONT_PACKAGES = {
  noto: { debian: "fonts-noto-core", files: /\/NotoSans-(Regular|Bold|Medium|SemiBold)\.ttf$/ },
  liberation: { debian: "fonts-liberation", files: /\/Liberation(Sans|Mono)-(Regular|Bold)\.ttf$/ },
} as const;
export type FontPackage = keyof typeof FONT_PACKAGES;

/** One folder for each package. */
export const FONTS = fileURLToPath(new URL("../.cache/fonts", import.meta.url));

const decoder = new TextDecoder();

/** Unpacks missing fonts; needs no root, only apt's package lists. */
export async function unpackFonts(): Promise<void> {
  for (const name of Object.keys(FONT_PACKAGES) as FontPackage[]) {
    if (!await isUnpacked(name)) await unpack(name);
  }
}

/** True if the package's fonts are unpacked; false on a system without Debian's packages. */
export async function isUnpacked(name: FontPackage): Promise<boolean> {
  return await Deno.stat(`${FONTS}/${name}`).then(({ isDirectory }) => isDirectory, () => false);
}

async function unpack(name: FontPackage): Promise<void> {
  const { debian, files } = FONT_PACKAGES[name];
  const folder = await Deno.makeTempDir({ prefix: "svc-fonts-" });
  const fresh = `${folder}/${name}`;
  try {
    await run("apt-get", ["download", "-qq", debian], folder);
    const [archive = ""] = namesIn(folder).filter((one) => one.endsWith(".deb"));
    await run("dpkg-deb", ["-x", archive, "all"], folder);
    await Deno.mkdir(fresh);
    for (const path of filesUnder(`${folder}/all`).filter((one) => files.test(one))) {
      await Deno.copyFile(path, `${fresh}/${path.split("/").at(-1)}`);
    }
    await Deno.mkdir(FONTS, { recursive: true });
    await run("cp", ["-R", fresh, FONTS], folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function namesIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name);
}

function filesUnder(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesUnder(`${folder}/${name}`) : [`${folder}/${name}`]
  );
}

async function run(program: string, args: readonly string[], cwd: string): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args: [...args], cwd }).output();
  if (!success) {
    throw new Error(`cannot run "${program} ${args.join(" ")}": ${decoder.decode(stderr).trim()}`);
  }
}
