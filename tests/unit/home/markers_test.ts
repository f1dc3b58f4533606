/** Markers: written before Enter, taken once by a hook, also matched in a joined prompt. */
import assert from "node:assert/strict";
import { sha256Hex } from "../../../src/async/encodings.ts";
import {
  COMPARISONS_MAX,
  isTaken,
  type MarkedText,
  type Marker,
  MARKER_LIFE_MS,
  MARKERS_MAX,
  matchJoin,
  takeMarker,
  withdrawMarker,
  writeMarker,
} from "../../../src/home/markers.ts";
import { canonicalDigest } from "../../../src/protocol/canonical.ts";
import { makeTempHome, type TempHome } from "../../helpers/temp_home.ts";

const NOW = 1_795_000_000_000;

interface Bench {
  home: TempHome & { markers: string };
  dir: string;
  write(text: string, more?: Partial<MarkedText>): ReturnType<typeof writeMarker>;
  take(text: string, more?: Partial<MarkedText>): Promise<boolean>;
  names(): string[];
}

async function withMarkers(test: (bench: Bench) => Promise<void>): Promise<void> {
  await using temp = await makeTempHome();
  const home = { ...temp, markers: temp.paths.markers };
  const dir = `${temp.directory}/proj`;
  await Deno.mkdir(`${dir}/src/deep`, { recursive: true });
  await test({
    home,
    dir,
    write: (text, more = {}) => writeMarker(home, { dir, text, now: NOW, ...more }),
    take: (text, more = {}) => takeMarker(home, { dir, text, now: NOW + 1_000, ...more }),
    names: () => Array.from(Deno.readDirSync(home.markers), ({ name }) => name),
  });
}

Deno.test("with two messages of one text in a project each hook takes its own pane's marker, and one without a pane the oldest [rm-taken]", () =>
  withMarkers(async ({ home, write, take }) => {
    const [first, second] = [
      await write("continue", { pane: "%1" }),
      await write("continue", { pane: "%2" }),
    ];
    assert.ok(await take("continue", { pane: "%2" }));
    assert.deepEqual([await isTaken(home, first), await isTaken(home, second)], [false, true]);
    const third = await write("continue", { pane: "%3", now: NOW + 1 });
    assert.ok(await take("continue"));
    assert.deepEqual([await isTaken(home, first), await isTaken(home, third)], [true, false]);
  }));

Deno.test("a prompt that was certainly submitted in one pane takes no marker for another [rm-taken]", () =>
  withMarkers(async ({ home, write, take }) => {
    const others = await write("continue", { pane: "%3" });
    assert.equal(await take("continue", { pane: "%7", isPaneSure: true }), false);
    assert.equal(await isTaken(home, others), false);
    assert.equal(await take("continue", { pane: "%3", isPaneSure: true }), true);
    await write("continue");
    assert.equal(
      await take("continue", { pane: "%7", isPaneSure: true }),
      true,
      "of a listener that knew no pane",
    );
  }));

Deno.test("a prompt that was certainly submitted in one pane takes its marker in whatever directory the agent works, and none of another tmux server [rm-taken, rm-cwd]", () =>
  withMarkers(async ({ home, write, take }) => {
    const here = { pane: "%3", socket: "/tmp/tmux-1000/default" };
    const elsewhere = { ...here, dir: home.directory, isPaneSure: true };
    const other = await write("continue", { ...here, socket: "/tmp/tmux-1000/other" });
    assert.equal(await take("continue", elsewhere), false);
    assert.equal(await take("continue", { ...here, isPaneSure: true }), false);
    await write("continue", here);
    assert.equal(await take("continue", { ...elsewhere, isPaneSure: false }), false);
    assert.equal(await take("continue", { ...elsewhere, pane: "%7" }), false);
    assert.equal(await take("continue", elsewhere), true);
    assert.equal(await isTaken(home, other), false);
    // tmux was started again: a new pane has the id, in another project.
    await write("continue", { ...here, server: 41 });
    assert.equal(await take("continue", { ...elsewhere, server: 42 }), false);
    assert.equal(await take("continue", { ...elsewhere, server: 41 }), true);
  }));

Deno.test("a marker is a file with time, hash and directory, and never the text [rm-files, res-marker-epoch, res-marker-hash, res-marker-key]", () =>
  withMarkers(async ({ home, dir, write, names }) => {
    const { path } = await write("fix the bug");
    const [name = ""] = names();
    assert.equal(path, `${home.markers}/${name}`);
    const digest = await canonicalDigest("fix the bug");
    const [directory, epoch, , sha256] = name.split(".");
    assert.deepEqual([directory, epoch, sha256], [
      await sha256Hex(await Deno.realPath(dir)),
      String(NOW),
      digest,
    ]);
    const content = await Deno.readTextFile(path);
    const marker: Marker = JSON.parse(content);
    assert.deepEqual(marker, {
      epoch: NOW,
      sha256: digest,
      key: await Deno.realPath(dir),
      length: 11,
    });
    assert.ok(!content.includes("fix"));
    assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
  }));

Deno.test("an exact prompt takes its marker, once [res-marker-once, rm-taken, remote-marker]", () =>
  withMarkers(async ({ home, write, take }) => {
    const handle = await write("fix the bug");
    assert.equal(await isTaken(home, handle), false);
    assert.equal(await take("fix the bug"), true);
    assert.equal(await isTaken(home, handle), true);
    assert.equal(await take("fix the bug"), false);
  }));

Deno.test("a text that differs by one keystroke does not match", () =>
  withMarkers(async ({ write, take }) => {
    await write("fix the bug");
    for (
      const text of ["fix the bugs", "fix the bu", "Fix the bug", "", "fix  the bug", "x\n\nfix the bug"]
    ) {
      assert.equal(await take(text), false, text);
    }
    assert.equal(await take("fix the bug"), true);
  }));

Deno.test("both sides compare the canonical text [rm-canonical]", () =>
  withMarkers(async ({ write, take }) => {
    await write("a\tb\r\ncafe\u0301");
    assert.equal(await take("  a    b\ncaf\u00e9 \n"), true);
  }));

Deno.test("the same text twice makes two markers [rm-list]", () =>
  withMarkers(async ({ write, take }) => {
    await write("again");
    await write("again");
    assert.deepEqual([await take("again"), await take("again"), await take("again")], [true, true, false]);
  }));

Deno.test("only one of many concurrent requests for a marker gets it", () =>
  withMarkers(async ({ write, take }) => {
    await write("once");
    const taken = await Promise.all(Array.from({ length: 8 }, () => take("once")));
    assert.equal(taken.filter((one) => one).length, 1);
  }));

Deno.test("another project's prompt takes nothing; one from below, or through a link, does", () =>
  withMarkers(async ({ home, dir, write, take }) => {
    await write("here");
    assert.equal(await take("here", { dir: home.directory }), false);
    assert.equal(await take("here", { dir: `${home.directory}/nowhere` }), false);
    await Deno.symlink(dir, `${home.directory}/link`);
    assert.equal(await take("here", { dir: `${home.directory}/link/src/deep` }), true);
  }));

Deno.test("a withdrawn marker matches nothing; one that was taken cannot be withdrawn [inj-marker-back]", () =>
  withMarkers(async ({ home, write, take }) => {
    const first = await write("one");
    assert.equal(await withdrawMarker(home, first), true);
    assert.equal(await take("one"), false);
    const second = await write("two");
    await take("two");
    assert.equal(await withdrawMarker(home, second), false);
  }));

Deno.test("messages that the agent joined with a blank line match, and all are taken [inj-marker-join]", () =>
  withMarkers(async ({ write, take, names }) => {
    for (const [index, text] of ["first", "second\n\npart", "third", "fourth"].entries()) {
      await write(text, { now: NOW + index });
    }
    assert.equal(await take("first\n\nsecond\n\npart \n\nthird"), true);
    assert.equal(names().length, 1);
    assert.equal(await take("fourth"), true);
  }));

Deno.test("a join that skips another session's message matches; a wrong order or an unknown part does not", () =>
  withMarkers(async ({ write, take, names }) => {
    for (const [index, text] of ["a1", "b1", "a2"].entries()) await write(text, { now: NOW + index });
    for (const text of ["a2\n\na1", "a1\na2", "a1\n\nme\n\na2", "a1\n\na2\n\nme"]) {
      assert.equal(await take(text), false, JSON.stringify(text));
    }
    assert.equal(names().length, 3);
    assert.equal(await take("a1\n\na2"), true);
    assert.equal(names().length, 1);
  }));

Deno.test("a marker expires after 24 hours, and the next one removes it [rm-day]", () =>
  withMarkers(async ({ write, take, names }) => {
    await write("old");
    assert.equal(await take("old", { now: NOW + MARKER_LIFE_MS }), false);
    await write("new", { now: NOW + MARKER_LIFE_MS });
    assert.equal(names().length, 1);
    assert.equal(await take("new", { now: NOW }), false, "nor from a clock a day back");
  }));

Deno.test("a clock that is set by days between Enter and the hook makes no marker expire, and a day without a change does [rm-day, fault-clock]", () =>
  withMarkers(async ({ home, dir, names }) => {
    const days = (count: number): number => NOW + count * MARKER_LIFE_MS;
    let boot = { boot: "a", ms: 1_000 };
    const machine = { ...home, bootTime: () => Promise.resolve(boot) };
    const write = (text: string, now = NOW): Promise<unknown> => writeMarker(machine, { dir, text, now });
    const take = (text: string, now: number): Promise<boolean> => takeMarker(machine, { dir, text, now });
    for (const text of ["ahead", "back", "day", "start"]) await write(text);
    boot = { boot: "a", ms: 2_000 };
    await write("other", days(300));
    assert.equal(names().length, 5, "those of the other messages stay");
    assert.deepEqual([await take("ahead", days(300)), await take("back", days(-300))], [true, true]);
    assert.equal(await take("start", days(2)), true);
    await write("start");
    boot = { boot: "b", ms: 3_000 };
    assert.equal(await take("start", days(2)), false, "the machine was started again");
    boot = { boot: "b", ms: 5_000 };
    await write("container");
    boot = { boot: "b", ms: 3_000 };
    assert.equal(
      await take("container", days(2)),
      false,
      "a container of the same machine was started again",
    );
    boot = { boot: "a", ms: 1_000 + MARKER_LIFE_MS };
    assert.equal(await take("day", days(1)), false);
  }));

Deno.test("an agent that takes none does not fill the disk: the oldest of its project are removed", () =>
  withMarkers(async ({ write, take, names }) => {
    for (let index = 0; index < MARKERS_MAX + 3; index++) await write(`text ${index}`, { now: NOW + index });
    assert.equal(names().length, MARKERS_MAX);
    assert.deepEqual([await take("text 2"), await take("text 3")], [false, true]);
  }));

Deno.test("junk in the directory does no harm", () =>
  withMarkers(async ({ home, write, take }) => {
    const { path } = await write("first", { now: NOW - 1 });
    await write("second");
    await Deno.writeTextFile(path, "{cut o");
    await Deno.writeTextFile(`${home.markers}/junk`, "junk");
    await Deno.mkdir(`${home.markers}/directory`);
    assert.equal(await take("first\n\nsecond"), false, "its length is not known");
    assert.equal(await take("first"), true, "the name alone tells");
    assert.equal(await take("second"), true);
  }));

Deno.test("a marker that a full disk takes no text of is not left behind: the hook would take it in place of the next one [inj-full-disk, inj-marker-back]", () =>
  withMarkers(async ({ home, dir, write, take, names }) => {
    await write("another");
    const writeText: typeof home.files.writeText = async (path, _text, options) => {
      await home.files.writeText(path, "", options);
      throw new Error("ENOSPC");
    };
    const full = { ...home, files: { ...home.files, writeText } };
    await assert.rejects(writeMarker(full, { dir, text: "hello", now: NOW }), /ENOSPC/);
    assert.equal(names().length, 1);
    assert.equal(await take("hello"), false);
  }));

Deno.test("without any marker nothing matches", () =>
  withMarkers(async ({ take }) => {
    assert.equal(await take("anything"), false);
  }));

const digest = (text: string): Promise<string> => Promise.resolve(`#${text}`);
const known = (text: string): { sha256: string; length: number } => ({
  sha256: `#${text}`,
  length: text.length,
});

Deno.test("a text that contains a blank line, and is the beginning of another, is distinguished from it", async () => {
  const texts = ["a", "a\n\nb", "c"].map(known);
  assert.deepEqual(await matchJoin("a\n\nb\n\nc", texts, digest), [texts[1], texts[2]]);
});

Deno.test("a single text is not a join", async () => {
  assert.equal(await matchJoin("a", [known("a")], digest), undefined);
});

Deno.test("matching of a prompt made to be expensive is abandoned", async () => {
  let compared = 0;
  const counting = (text: string): Promise<string> => {
    compared++;
    return digest(text);
  };
  const prompt = Array.from({ length: 40 }, () => "a").join("\n\n");
  const texts = Array.from({ length: 200 }, (_, index) => known(index % 2 ? "a" : "b"));
  assert.equal(await matchJoin(`${prompt}!`, texts, counting), undefined);
  assert.ok(compared <= COMPARISONS_MAX, String(compared));
});
