import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatCurl } from '../../src/webhooks/requests/curl-command.ts'
import type { RequestRow } from '../../src/webhooks/requests/captured-request.ts'

const SHELLS = ['bash', 'dash', 'zsh', 'fish'].map((name) => `/usr/bin/${name}`).filter(existsSync)

function row(change: Partial<RequestRow>): RequestRow {
  const body = change.body ?? Buffer.alloc(0)
  return {
    method: 'POST',
    path: '',
    query: '',
    headers: [['Host', 'a']],
    body,
    bodySize: body.length,
    ...change,
  } as RequestRow
}

type Call = { words: string[]; input: Buffer }

/** No command can print it: words have no NUL, and an empty word is never sent twice. */
const END = '\0\0end of the command\0\0'

/** Runs commands in one shell with a fake curl; returns the arguments and the standard input of each call. */
function run(shell: string, commands: string[], folder: string): Call[] {
  const script = [
    `curl() { printf '%s\\0' "$@"; case " $* " in *' --data-binary @- '*) cat;; esac; }`,
    ...commands.flatMap((command) => [command, `printf '\\0\\0end of the command\\0\\0'`]),
  ].join('\n')
  const { stdout, status } = spawnSync(shell, ['-c', script], { cwd: folder, timeout: 60_000 })
  expect(status).toBe(0)
  const outputs = stdout.toString('latin1').split(END).slice(0, -1)
  expect(outputs).toHaveLength(commands.length)
  return outputs.map(callOf)
}

function callOf(output: string): Call {
  const [head = '', input = ''] = output.split('--data-binary\0@-\0')
  return { words: head.split('\0').slice(0, -1), input: Buffer.from(input, 'latin1') }
}

describe('the command that sends a request again', () => {
  let folder: string
  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'portreeve-curl-'))))
  afterAll(() => rmSync(folder, { recursive: true }))

  it('is readable for an ordinary request', () => {
    const headers: [string, string][] = [
      ['Host', 'x'],
      ['Content-Type', 'application/json'],
      ['User-Agent', 'u'],
      ['Accept', '*/*'],
      ['Content-Length', '9'],
    ]
    const command = formatCurl(
      row({ path: '/a', query: 'b=1', headers, body: Buffer.from(`{"it's":1}`) }),
      'https://h.test/webhooks/t',
    )
    expect(command).toBe(
      `curl -X 'POST' --globoff --path-as-is 'https://h.test/webhooks/t/a?b=1' -H 'Content-Type: application/json' ` +
        `-H 'User-Agent: u' -H 'Accept: */*' --data-raw '{"it'\\''s":1}'`,
    )
  })

  it('is null for a truncated body, and for bytes that are no request', () => {
    expect(formatCurl(row({ body: Buffer.from('x'), bodySize: 2 }), 'u')).toBe(null)
    expect(formatCurl(row({ headers: [] }), 'u')).toBe(null)
  })

  it.each(SHELLS.filter((shell) => !shell.includes('fish')))(
    'runs nothing but curl in %s, and says what was sent',
    (shell) => {
      const nasty = fc.constantFrom(
        "'",
        '"',
        '`touch x`',
        '$(touch x)',
        '; touch x',
        '\n touch x',
        '\\',
        "\\'; touch x; '",
        '!!',
        '@/etc/passwd',
        '%s%n',
        '\u001b[201~touch x\r',
        '*',
        'é',
      )
      const text = fc
        .array(fc.oneof(nasty, fc.string({ maxLength: 5 })), { maxLength: 6 })
        .map((parts) => parts.join(''))
      const value = text.map((found) =>
        Buffer.from(found)
          .toString('latin1')
          // oxlint-disable-next-line no-control-regex
          .replace(/[\u0000-\u0008\u000a-\u001f\u007f]/g, '')
          .trim(),
      )
      const target = value.map((found) => found.replace(/[ \t]/g, ''))
      const requests = fc.array(fc.tuple(text, value, target), { minLength: 1, maxLength: 10 })
      fc.assert(
        fc.property(requests, (given) => {
          const commands = given.map(([body, header, path]) => {
            const headers: [string, string][] = [['X-It', header]]
            const request = row({ path: `/${path}`, headers, body: Buffer.from(body) })
            return formatCurl(request, 'http://h/t') ?? ''
          })
          const calls = run(shell, commands, folder)
          expect(readdirSync(folder)).toEqual([])
          for (const [index, { words, input }] of calls.entries()) {
            const [body, header, path] = given[index] ?? ['', '', '']
            expect(words).toContain(`http://h/t/${path}`)
            expect(words).toContain(header === '' ? 'X-It;' : `X-It: ${header}`)
            const raw = words.indexOf('--data-raw')
            const sent = raw === -1 ? input : Buffer.from(words[raw + 1] ?? '', 'latin1')
            expect(sent.equals(Buffer.from(body))).toBe(true)
          }
        }),
        { numRuns: 30 },
      )
    },
    300_000,
  )

  it('never quotes text in a way that another shell would end', () => {
    // fish reads a backslash before a quote as an escape.
    for (const body of ["\\'; touch x; '", 'ends in \\', '\\\\']) {
      expect(formatCurl(row({ body: Buffer.from(body) }), 'http://h/t')).toMatch(
        /^printf %s '[A-Za-z0-9+/=]+' \| base64 -d \| curl /,
      )
    }
  })
})

describe.skipIf(!existsSync('/usr/bin/curl'))('curl itself', () => {
  let server: Server
  const received: Buffer[] = []
  const BODY = Buffer.from([0, 1, 255, 39, 10])
  beforeAll(async () => {
    server = createServer((socket) => {
      socket.on('data', (piece) => {
        received.push(piece)
        const sent = Buffer.concat(received)
        const isWhole = sent.length >= sent.indexOf('\r\n\r\n') + 4 + BODY.length
        if (sent.includes('\r\n\r\n') && isWhole)
          socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterAll(() => void server.close())

  it('sends the same bytes', async () => {
    const headers: [string, string][] = [
      ['Host', 'x'],
      ['X-Empty', ''],
      ['x-latin', 'é'],
      ['Content-Type', 'a/b'],
    ]
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/t`
    const command =
      formatCurl(
        row({ method: 'PATCH', path: '/a/../b[1]', query: 'q={x}', headers, body: BODY }),
        url,
      ) ?? ''
    await once(spawn('bash', ['-c', `${command} -s`]), 'exit')
    const sent = Buffer.concat(received)
    const [head = ''] = sent.toString('latin1').split('\r\n\r\n')
    expect(head.split('\r\n')[0]).toBe('PATCH /t/a/../b[1]?q={x} HTTP/1.1')
    expect(head).toContain('\r\nX-Empty:')
    expect(head).toContain('\r\nx-latin: é')
    expect(head).toContain('\r\nContent-Type: a/b')
    expect(head).not.toMatch(/user-agent|accept/i)
    expect(sent.subarray(sent.indexOf('\r\n\r\n') + 4).equals(BODY)).toBe(true)
  })
})
