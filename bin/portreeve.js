#!/usr/bin/env node
// Plain JavaScript that an old Node understands too, so that it can say what to do.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { constants } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const NEEDED = 24
hideSecrets()

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

if (Number(process.versions.node.split('.')[0]) >= NEEDED) await run()
else handOver()

/**
 * Hides passwords and tokens of the command line from other users of the machine, who see the title
 * of a process. They are visible until then, so that files are better.
 */
function hideSecrets() {
  const words = process.argv.slice(1)
  // As imapsync, with one or two dashes, in any case and shortened.
  const isSecret = (word) => /^--?(?:pass(?!f)|oauthaccesst)/i.test(word)
  const shown = words.map((word, index) => {
    const before = words[index - 1] ?? ''
    if (isSecret(word)) return word.replace(/=.*/s, '=***')
    return isSecret(before) && !before.includes('=') ? '***' : word
  })
  if (shown.some((word, index) => word !== words[index]))
    process.title = [process.argv0, ...shown].join(' ')
}

/** Runs the source in a checkout, the built JavaScript in an installed package. */
async function run() {
  let isDone = false
  process.stdout.on('error', ({ code, message }) => {
    if (code === 'EPIPE') setImmediate(endWithReader)
    else {
      console.error(`Error: Standard output could not be written: ${message}.`)
      process.exit(1)
    }
  })
  process.stderr.on('error', () => {})
  /** `portreeve … | head` closes the pipe early: after the work, or as SIGPIPE ends a program. */
  function endWithReader() {
    process.exit(isDone ? process.exitCode : 128 + 13)
  }
  const { main } = await import(pathToFileURL(findMain()).href)
  // A symbolic link named imapsync is the command `portreeve imapsync`.
  const isImapsync = basename(process.argv[1] ?? '') === 'imapsync'
  process.exitCode = await main([...(isImapsync ? ['imapsync'] : []), ...process.argv.slice(2)])
  isDone = true
}

function findMain() {
  const source = join(root, 'src', 'cli', 'main.ts')
  if (existsSync(source)) return source
  // Compiled code of the last start, beside the files that it belongs to: only who may change those
  // may change it. Where the folder is read-only, there is none.
  module.enableCompileCache(join(root, 'dist', 'compiled'))
  return join(root, 'dist', 'main.js')
}

/** Starts again under the Node that the checkout brings along, or says what is missing. */
function handOver() {
  const pinned = join(root, 'node_modules', 'node', 'bin', 'node')
  if (!existsSync(pinned)) {
    console.error(
      `Portreeve needs Node.js ${NEEDED} or later; this is ${process.versions.node}.\n` +
        'In a checkout, run “npm ci” once: it brings the right Node along. Elsewhere, install it from https://nodejs.org.',
    )
    process.exitCode = 1
    return
  }
  const child = spawn(
    pinned,
    [process.argv[1] ?? fileURLToPath(import.meta.url), ...process.argv.slice(2)],
    {
      stdio: 'inherit',
    },
  )
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    process.exitCode = signal ? 128 + constants.signals[signal] : (code ?? 1)
  })
}
