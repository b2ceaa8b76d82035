import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer as createSilentServer, type AddressInfo, type Socket } from 'node:net'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { stripVTControlCharacters } from 'node:util'
import { afterAll } from 'vitest'
import { ROOT } from '../../src/cli/commands.ts'
import { findCommand, parseInput } from '../../src/cli/parse.ts'
import { readSecretFile } from '../../src/cli/secret-file.ts'
import { table, width } from '../../src/cli/terminal-text.ts'
import { parseEnvironmentFile } from '../../src/installation.ts'
import { PROGRAM, runInProcess, SURROUNDINGS, type Outcome } from '../cli/command.ts'
import { makeCertificate } from '../servers/certificates.ts'
import { runCases } from './run-cases.ts'

type Input = {
  /** Text whose columns at a terminal are counted. */
  width?: string
  table?: string[][]
  /** A line for sh, in an empty folder, with `portreeve` in its path. */
  shell?: string
  /** Arguments of the program. */
  words?: string[]
  env?: Record<string, string>
  /** Standard input is a pipe that stays open, without data. */
  openStdin?: boolean
  /** Comes when it connects to a server that says nothing, whose port is `PORT` in the words. */
  signal?: NodeJS.Signals
  environment?: string
  passwordFile?: string
  tokenFile?: string
  tokenVariable?: string
  /** What follows the address of a service of which `portreeve problems` is asked. */
  server?: string
  /** Address of the service that is asked through the proxy that it is. */
  proxied?: string
  html?: boolean
  /** What it answers, in place of a list of problems. */
  answer?: unknown
  /** Where it redirects to. */
  redirect?: string
  tls?: boolean
  /** The address has the other scheme than the service. */
  otherScheme?: boolean
  parse?: string[]
}

const folder = mkdtempSync(join(tmpdir(), 'portreeve-words-'))
afterAll(() => rmSync(folder, { recursive: true }))
const binaries = join(folder, 'bin')
mkdirSync(binaries)
writeFileSync(
  join(binaries, 'portreeve'),
  `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`,
)
chmodSync(join(binaries, 'portreeve'), 0o755)

runCases('command-line.json', async (input: Input, expected) => {
  if (input.width !== undefined) return { width: width(input.width) }
  if (input.table) return { columnsAt: columnsAt(input.table) }
  if (input.environment !== undefined) return { settings: parseEnvironmentFile(input.environment) }
  if (input.parse) return { values: parseInput(findCommand(ROOT, input.parse)).flags }
  if (input.passwordFile !== undefined)
    return { password: readSecretFile(fileOf(input.passwordFile)) }
  const asked = input.server ?? input.proxied ?? input.tokenFile ?? input.tokenVariable
  if (asked !== undefined) return askProblems(input, expected)
  if (input.shell !== undefined) return facts(await runShell(input.shell), expected)
  if (input.signal) return facts(await runUntil(input.signal, input.words ?? []), expected)
  return facts(await run(input), expected)
})

/** Where the second column of each row begins. */
function columnsAt(rows: string[][]): number[] {
  return table(rows, '')
    .split('\n')
    .map((line, at) => {
      const before = stripVTControlCharacters(line).slice(0, line.indexOf(rows[at]?.[1] ?? ''))
      return Array.from(before).reduce(
        (sum, char) => sum + (/[\u3000-\u9fff]/.test(char) ? 2 : 1),
        0,
      )
    })
}

function fileOf(content: string): string {
  const file = join(folder, 'secret')
  writeFileSync(file, content)
  return file
}

type Expected = { outHas?: string; errHas?: string; errHasNot?: string }

function facts({ code, out, err }: Outcome, expected: object): object {
  const { outHas = '', errHas = '', errHasNot } = expected as Expected
  return {
    code,
    out,
    err,
    isSuccess: code === 0,
    isJson: isJson(out),
    hasStack: /^\s+at |node:internal/m.test(out + err),
    outHas: out.includes(outHas) ? outHas : out,
    errHas: err.includes(errHas) ? errHas : err,
    errHasNot: errHasNot !== undefined && err.includes(errHasNot) ? err : errHasNot,
  }
}

function isJson(out: string): boolean {
  try {
    JSON.parse(out)
    return true
  } catch {
    return false
  }
}

async function run({ words = [], env = {}, openStdin = false, proxied }: Input): Promise<Outcome> {
  if (!openStdin && proxied === undefined) return runInProcess(words, env)
  const child = spawn(process.execPath, [PROGRAM, ...words], {
    cwd: folder,
    env: { ...SURROUNDINGS, ...env },
    stdio: 'pipe',
  })
  const ended = once(child, 'exit') as Promise<[number | null]>
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  child.stdin.destroy()
  return { code, out, err }
}

/** Ends a command while it waits for a server. */
async function runUntil(signal: NodeJS.Signals, words: string[]): Promise<Outcome> {
  const cwd = mkdtempSync(join(folder, 'signal-'))
  writeFileSync(join(cwd, 'mail.eml'), 'From: a@x.example\nSubject: One\n\nText\n')
  writeFileSync(join(cwd, 'list.csv'), 'source_user;destination_user;password\na;b;secret\n')
  const silent = createSilentServer()
  await once(silent.listen(0, '127.0.0.1'), 'listening')
  const { port } = silent.address() as AddressInfo
  const env = { ...SURROUNDINGS, ...PASSWORDS, HOME: cwd, PORTREEVE_TOKEN: 'tok' }
  const argv = words.map((word) => word.replace('PORT', String(port)))
  const child = spawn(process.execPath, [PROGRAM, ...argv], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  silent.once('connection', () => child.kill(signal))
  const [out, err, [code, by]] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  await new Promise((resolve) => silent.close(resolve))
  // As a shell reports it.
  return { code: by === null ? code : 128 + constants.signals[by], out, err }
}

const PASSWORDS = { PORTREEVE_SOURCE_PASSWORD: 'secret', PORTREEVE_DESTINATION_PASSWORD: 'secret' }

function runShell(line: string): Promise<Outcome> {
  const cwd = mkdtempSync(join(folder, 'shell-'))
  const env = { ...SURROUNDINGS, PATH: `${binaries}:${SURROUNDINGS.PATH}`, HOME: cwd }
  return new Promise((resolve) => {
    const child = execFile('sh', ['-c', line], { cwd, env }, (_error, out, err) =>
      resolve({ code: child.exitCode, out, err }),
    )
  })
}

const PROBLEMS = {
  success: true,
  data: { count: 0, problems: [], setup: [], administration: [], missing: [] },
}

/** Runs `portreeve problems` with a service that says what was asked of it. */
async function askProblems(input: Input, expected: object): Promise<object> {
  const seen: { url: string; authorization: string | undefined }[] = []
  const listener: RequestListener = ({ url = '', headers }, answer) => {
    seen.push({ url, authorization: headers.authorization })
    answer.setHeader('content-type', input.html ? 'text/html' : 'application/json')
    if (input.redirect !== undefined) answer.writeHead(301, { location: input.redirect })
    const json = 'answer' in input ? input.answer : PROBLEMS
    answer.end(input.html ? '<!DOCTYPE html><title>Sign in</title>' : JSON.stringify(json))
  }
  const server = createService(listener, input.tls ?? false)
  server.on('connect', (_request, socket: Socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    server.emit('connection', socket)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const scheme = (input.tls ?? false) !== (input.otherScheme ?? false) ? 'https' : 'http'
  const address = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`
  const file = input.tokenFile === undefined ? [] : ['--api-token-file', fileOf(input.tokenFile)]
  const asked = input.proxied ?? address + (input.server ?? '')
  const words = ['problems', '--server', asked, ...file]
  const env: Record<string, string> = {
    ...input.env,
    PORTREEVE_TOKEN: input.tokenVariable ?? 'tok',
  }
  if (input.proxied !== undefined) env['HTTP_PROXY'] = address
  try {
    const outcome = await run({ ...input, words, env })
    const [first] = seen
    const { pathStart = '' } = expected as { pathStart?: string }
    return {
      ...facts(outcome, expected),
      authorization: first?.authorization ?? null,
      pathStart: first?.url.startsWith(pathStart) ? pathStart : first?.url,
      hasDoubleSlash: first?.url.includes('//'),
    }
  } finally {
    server.close()
  }
}

function createService(listener: RequestListener, isTls: boolean): Server {
  if (!isTls) return createServer(listener)
  const own = makeCertificate({ subject: '/CN=127.0.0.1', altNames: ['IP:127.0.0.1'] })
  return createTlsServer(own, listener)
}
