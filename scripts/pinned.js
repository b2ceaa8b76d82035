// Installs the packages of the lockfile when they are not there, then runs a script under the Node
// that came with them:
//   node scripts/pinned.js scripts/up.ts [argument …]
// Plain JavaScript for whatever Node is on the path.
//
// npm sends SIGTERM to the shell that runs its script, and a shell does not pass it on: the scripts
// in package.json say `exec`, so that this process takes the shell's place.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const bin = join(root, 'node_modules', '.bin')
const options = {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` },
}

// A terminal's Ctrl-C reaches the child by itself; here it must only not end us before the child.
process.on('SIGINT', () => {})
if ((await install()) === 0) {
  process.exitCode = await run(
    join(root, 'node_modules', 'node', 'bin', 'node'),
    process.argv.slice(2),
  )
}

/** Runs a program until it ends, and passes on what asks us to end. */
function run(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, options)
    const passOn = (signal) => child.kill(signal)
    for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, passOn)
    child.on('error', (error) => {
      console.error(
        `${command} could not be started (${error.message}). Remove node_modules and try again.`,
      )
      resolve(1)
    })
    child.on('exit', (code) => {
      for (const signal of ['SIGTERM', 'SIGHUP']) process.off(signal, passOn)
      resolve(code ?? 1)
    })
  })
}

/** Once for each lockfile: the stamp remembers which one was installed. */
async function install() {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  const stamp = join(root, 'node_modules', '.portreeve-lock')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return 0
  console.log('Installing packages …')
  const status = await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
  if (status === 0) writeFileSync(stamp, lock)
  else process.exitCode = status
  return status
}
