import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freePort } from '../free-port.ts'
import { PROGRAM } from './command.ts'
import { openTerminal, type Terminal } from './terminal.ts'

const JSON_LINE = /^\{"level":.*\}$/

let folder: string
let port: number
let env: Record<string, string>
let terminal: Terminal | undefined

// All use one database, which the first creates.
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'portreeve-serve-'))
  chmodSync(folder, 0o755)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))
beforeEach(async () => {
  port = await freePort()
  env = { DATA_DIR: join(folder, 'data'), PORT: String(port), SMTP_LISTEN: 'off' }
})
afterEach(async () => {
  if (!/\[exit \d+\]/.test(terminal?.screen() ?? '')) terminal?.press('C-c')
  await terminal?.until(/\[exit \d+\]/).finally(() => terminal?.close())
  terminal = undefined
})

const serve = (words = '', more: Record<string, string> = {}, size = {}) =>
  openTerminal(`"${process.execPath}" "${PROGRAM}" serve ${words}`, {
    env: { ...env, ...more },
    ...size,
  })

describe('portreeve serve at a terminal', { timeout: 180_000 }, () => {
  it('shows the address and the setup link, no line for requests, and says when it stops', async () => {
    terminal = serve()
    await terminal.until(/Press Ctrl-C to stop\./)
    for (const path of ['/healthz', '/api/v1/account', '/nothing'])
      await fetch(`http://127.0.0.1:${port}${path}`)
    const shown = terminal.screen()
    expect(shown).toMatch(/Portreeve is running: +http:\/\/localhost:\d+\n/)
    expect(shown).toMatch(/Create first account: +http:\/\/localhost:\d+\/setup#\S{43}\n/)
    expect(shown.split('\n').at(-1)).toBe('  Press Ctrl-C to stop.')
    expect(shown).not.toMatch(/[{}"]|request|Server listening/)
    terminal.press('C-c')
    expect(await terminal.until(/\[exit \d+\]/)).toMatch(
      /Stopping\. Running work has 10 seconds.*Stopped\.\n\[exit 0\]/s,
    )
  })

  it('shows problems as sentences, and the setup link again when they push it out of view', async () => {
    terminal = serve('', {}, { rows: 10 })
    await terminal.until(/Press Ctrl-C to stop\./)
    const pidFile = join(folder, 'data', 'postgres', 'postmaster.pid')
    // The service reports that its database ended, and starts it again.
    process.kill(Number(readFileSync(pidFile, 'utf8').split('\n')[0]), 'SIGQUIT')
    const links = () => terminal?.history().match(/Create first account: +\S+\/setup#/g)?.length
    await expect.poll(links, { timeout: 60_000, interval: 200 }).toBe(2)
    const lines = terminal.history().split('\n')
    expect(lines).toContainEqual(expect.stringMatching(/^\d\d:\d\d:\d\d {2}(Warning|Error): [A-Z]/))
    expect(terminal.history()).not.toMatch(/"level"|\n {4}at /)
    expect(terminal.screen()).toContain('/setup#')
  })

  it('stops its database when the terminal is closed', async () => {
    const closing = serve()
    await closing.until(/Press Ctrl-C to stop\./)
    const pidFile = join(folder, 'data', 'postgres', 'postmaster.pid')
    expect(existsSync(pidFile)).toBe(true)
    closing.close()
    await expect.poll(() => existsSync(pidFile)).toBe(false)
  })

  it('writes only JSON lines with --json', async () => {
    // As wide as a stack trace in JSON, which would otherwise be cut where the history begins.
    terminal = serve('--json', {}, { columns: 8_000 })
    await terminal.until(/"setupLink":"http:\/\/localhost:\d+\/setup#\S{43}"/)
    // Polls, because a line can still be incomplete.
    const others = () =>
      terminal
        ?.screen()
        .split('\n')
        .filter((line) => !JSON_LINE.test(line))
    await expect.poll(others).toEqual([])
  })

  it('writes JSON lines with LOG_FORMAT=json, and the address', async () => {
    terminal = serve('', { LOG_FORMAT: 'json' })
    const shown = await terminal.until(/Create first account: +\S+\/setup#/)
    expect(shown).toMatch(/\{"level":30,.*"msg":"Portreeve is ready"\}/)
  })

  it('reports in one line a port that is in use, with another to try', async () => {
    const other = createServer().listen(port, '127.0.0.1')
    await once(other, 'listening')
    terminal = serve()
    const shown = await terminal.until(/\[exit 1\]/)
    other.close()
    expect(shown).toMatch(
      new RegExp(`\\nError: Cannot listen on .* port ${port}: .* Try: PORT=${port + 1} in`),
    )
    expect(shown).not.toMatch(/[{}"]|    at /)
  })
})
