/** Calls that no phone may allow, in the hands of a program or a shell's word that starts them. */
import assert from "node:assert/strict";
import { isNeverAllowed } from "../../../../src/listener/cards/never_allowed.ts";

const NEVER = String.raw`
env -i docker stop x
env -u A docker stop x
FOO="a b" docker stop x
A=a B=b C=c D=d docker stop x
2>/dev/null docker stop x
timeout -k 5 5 docker stop x
nice -n 10 docker stop x
setsid docker stop x
stdbuf -oL docker stop x
watch -n 5 docker stop x
ionice -c3 docker stop x
time -p docker stop x
command -p docker stop x
exec -a x docker stop x
flock x docker stop x
LANG=C timeout -k 5 -s 9 30 docker stop x
2>/dev/null timeout 5 docker stop x
2>&1 env -i A="b c"d nice docker stop x
nice -n 5 timeout 5 setsid stdbuf -oL docker stop x
env -u A_VARIABLE_WITH_A_LONG_NAME docker stop x
ls | entr docker stop x
ls | xargs -n 1 -P 4 docker stop
docker ps -q | xargs -r docker stop
ls | xargs -I{} docker stop {}
nohup nice docker stop x
if docker stop x; then :; fi
while docker stop x; do :; done
trap 'docker stop x' EXIT
git bisect run docker stop x
git submodule foreach 'docker stop x'
git rebase -x 'docker stop x' main
uv run docker stop x
bundle exec docker stop x
bash <<< "docker stop x"
bash -s <<< "$x"
python3 -c "import subprocess; subprocess.run(['docker', 'stop', 'x'])"
node -e 'require("child_process").spawn("docker", ["stop", "x"])'
python3 -c "import subprocess; subprocess.run(args=['docker', 'stop', 'x'])"
python3 -c "import subprocess; subprocess.check_call(('docker', 'stop', 'x'))"
python3 -c "import subprocess; c = ['docker', 'stop', 'x']; subprocess.run(c)"
python3 -c "import os; os.execvp('docker', ['docker', 'stop', 'x'])"
ruby -e 'system "docker", "stop", "x"'
perl -e 'exec "docker", "stop", "x"'
python3 -c "import shutil, os; shutil.rmtree(os.getcwd())"
python3 -c "import os, glob; [os.remove(f) for f in glob.glob('*')]"
perl -e 'unlink <*>'
ruby -e 'FileUtils.rm_rf(Dir["*"])'
node -e 'fs.rmSync(process.cwd(), {recursive: true})'
sed -i d *
sed -i.bak '1,$d' *
`;

const EVERYDAY = String.raw`
if npm test; then echo ok; fi
while read line; do echo $line; done < a.txt
timeout 5m deno task ok
nice -n 19 make
watch -n 1 ls
ls | xargs -I{} cp {} build/
find . -name '*.ts' | xargs grep -l foo
git bisect run ./scripts/check.sh
git rebase -x 'npm test' main
git submodule foreach git pull
sed -i 's/a/d/' *
sed -i 3d a.txt
python3 -c "import subprocess; print(subprocess.run(['git', 'status'], capture_output=True))"
python3 -c "import os; print(os.getcwd())"
python3 -c "names = ['docker', 'git']; print(names)"
ruby -e 'system "npm test"'
node -e "require('child_process').execSync('npm test', {stdio: 'inherit'})"
bash <<< 'echo hi'
grep foo <<< "$x"
> out.txt npm test
FOO="a b" npm test
LANG=C timeout 5 nice -n 10 npm test
uv run pytest -x
trap 'rm -f tmp.txt' EXIT
git commit -m "If the service restarts, wait; while docker stops, hold"
grep -rn "docker stop" src
echo "if docker stop fails"
docker exec web npm test
if command -v docker; then docker ps; fi
`;

/** Returns the commands that are judged differently. */
async function differing(commands: string, isNever: boolean): Promise<string[]> {
  const judged = commands.trim().split("\n").map(async (command) => {
    const request = `command:\n  ${command}`;
    return await isNeverAllowed(request, { directory: "/work/app", more: [] }) === isNever ? [] : [command];
  });
  return (await Promise.all(judged)).flat();
}

Deno.test("a command stays at the computer whatever starts it [card-never]", async () => {
  assert.deepEqual(await differing(NEVER, true), []);
});

Deno.test("a command stays at the computer behind a long value, file or path [card-never]", async () => {
  const long = "long/".repeat(40);
  const commands = [`A="${long} b" docker stop x`, `A=${long} docker stop x`, `> ${long}f docker stop x`];
  assert.deepEqual(await differing([...commands, `/${long}docker stop x`].join("\n"), true), []);
});

Deno.test("everyday commands may be allowed from a phone, whatever starts them", async () => {
  assert.deepEqual(await differing(EVERYDAY, false), []);
});

Deno.test("a request that repeats what starts a command is judged at once [card-never]", async () => {
  const parts = [
    "|nice -a b ",
    "|xargs -n 1 ",
    `;${"nice -a nice -a ".repeat(8)}`,
    ';A="b ',
    "> a ",
    "sed -i -a ",
    "python -c run(['a'",
    "python -c run('a', ['b', ",
    "python exec 'a",
    "bash <<< ",
  ];
  // A pattern with quadratic time would take minutes.
  for (const part of parts) {
    const command = part.repeat(Math.ceil(262_144 / part.length));
    await isNeverAllowed(`command:\n  ${command}`, { directory: "/work/app", more: [] });
  }
});
