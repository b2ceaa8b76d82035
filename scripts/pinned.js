// Installs the packages of the lockfile when they are not there, then runs a script under the Node that came with them:
//   node scripts/pinned.js scripts/up.ts [argument …]
// Plain JavaScript for whatever Node is on the path.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const bin = join(root, 'node_modules', '.bin')
const options = { cwd: root, stdio: 'inherit', env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` } }

install()
const child = spawn(join(root, 'node_modules', 'node', 'bin', 'node'), process.argv.slice(2), options)
// A terminal's Ctrl-C reaches the child by itself; here it must only not end us before the child.
process.on('SIGINT', () => {})
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('error', (error) => {
  console.error(`The pinned Node could not be started (${error.message}). Remove node_modules and try again.`)
  process.exitCode = 1
})
child.on('exit', (code) => {
  process.exitCode = code ?? 1
})

/** Once for each lockfile: the stamp remembers which one was installed. */
function install() {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  const stamp = join(root, 'node_modules', '.portreeve-lock')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return
  console.log('Installing packages …')
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], options)
  if (status !== 0) process.exit(status ?? 1)
  writeFileSync(stamp, lock)
}
