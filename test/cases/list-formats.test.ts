import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { FORMATS, type FormatName } from '../../src/abuse/export/export-formats.ts'
import type { Entry } from '../../src/abuse/export/entry.ts'
import { runCases } from './run-cases.ts'

type Input = {
  /** A format, or `postfix` for a table of the plain list. */
  format: FormatName | 'postfix'
  addresses: string[]
  /** How many times the list is loaded. */
  times?: number
  /** The addresses of a list that is loaded after it. */
  then?: string[]
  /** Further addresses, from 9.1.0.0 on. */
  more?: number
}

const SEEN = new Date('2026-11-21T12:34:56Z')
const LIST = { version: 7, generatedAt: SEEN, pageUrl: 'https://portreeve.example/address' }

const entryOf = (address: string): Entry => ({
  address,
  score: 72.7,
  confidence: 'medium',
  services: ['ssh'],
  networks: 3,
  firstReportedAt: SEEN,
  lastReportedAt: SEEN,
})

const folder = mkdtempSync(join(tmpdir(), 'portreeve-lists-'))
afterAll(() => rmSync(folder, { recursive: true }))

runCases('list-formats.json', (input: Input, expected) => {
  const { format, addresses, times = 1, then, more = 0 } = input
  const further = Array.from({ length: more }, (_, n) => `9.${1 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`) // prettier-ignore
  const lists = [
    ...Array.from({ length: times }, () => [...addresses, ...further]),
    ...(then ? [then] : []),
  ]
  const files = lists.map((list, n) => {
    const file = join(folder, `list-${n}`)
    writeFileSync(file, render(format, list))
    return file
  })
  const asked = Object.keys((expected as { has?: object }).has ?? {})
  const consumer = CONSUMERS[format]
  if (consumer) return consumer(files, asked)
  const lines = render(format, addresses)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  const entries = lines.filter((line) => line.includes('add '))
  return { lines, isEveryEntryGuarded: entries.every((line) => /^:do \{.*\} on-error=\{\}$/.test(line)) } // prettier-ignore
})

function render(format: Input['format'], addresses: string[]): string {
  const entries = addresses.map(entryOf)
  if (format !== 'postfix') return [...FORMATS[format].render(LIST, entries)].join('')
  return render('plain', addresses).replaceAll('\n', ' REJECT\n')
}

type Facts = { isLoaded: boolean; has: Record<string, boolean> }

const CONSUMERS: Partial<Record<Input['format'], (files: string[], asked: string[]) => Facts>> = {
  nftables: (files, asked) =>
    inNamespace(
      files.map((file) => `nft -f ${file}`),
      asked,
      (address) => `nft get element inet portreeve listed${familyOf(address)} "{ ${address} }"`,
    ),
  ipset: (files, asked) =>
    inNamespace(
      files.map((file) => `ipset restore < ${file}`),
      asked,
      (address) => `ipset test portreeve${familyOf(address)} ${address}`,
    ),
  postfix(files, asked) {
    writeFileSync(join(folder, 'main.cf'), 'myhostname = mail.example.com\n')
    return inNamespace(
      ['ip link set lo up'],
      asked,
      (ip) => `postmap -c ${folder} -q ${ip} cidr:${files[0]}`,
    )
  },
}

const familyOf = (address: string) => (address.includes(':') ? 6 : 4)

/** Runs commands in a network of their own, and asks for addresses. */
function inNamespace(load: string[], asked: string[], ask: (address: string) => string): Facts {
  const asks = asked.map((address) => `if ${ask(address)} >/dev/null 2>&1; then echo 1; else echo 0; fi`) // prettier-ignore
  const script = [...load, ...asks].join('\n')
  const answer = execFileSync('unshare', ['-n', '-p', '-f', '--kill-child', 'sh', '-ec', script], {
    encoding: 'utf8',
    timeout: 60_000,
  })
  const found = answer.trim().split('\n')
  return {
    isLoaded: true,
    has: Object.fromEntries(asked.map((address, index) => [address, found[index] === '1'])),
  }
}
