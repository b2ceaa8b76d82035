import { isIPv4 } from 'node:net'
import * as fc from 'fast-check'
import { expect } from 'vitest'
import { rangeOfNetwork } from '../../../src/net/address-ranges.ts'
import { repairSpf } from '../../../src/protocols/spf/repair-spf.ts'
import { isSpf, parseSpf } from '../../../src/protocols/spf/spf-record.ts'

/** Records as their owners mean them, with the parts that a proposal must keep. */
const HOSTS = ['_spf.example.net', 'mail.example.org', 'spf-a.example.co.uk', 'x1.y2.example']
const host = fc.constantFrom(...HOSTS)
const anyAddress = fc
  .tuple(fc.nat(223), fc.nat(255), fc.nat(255), fc.nat(255))
  .map((octets) => octets.join('.'))
const anyTerm = fc.oneof(
  anyAddress.map((one) => `ip4:${one}`),
  fc.tuple(anyAddress, fc.integer({ min: 20, max: 32 })).map(([one, size]) => `ip4:${one}/${size}`),
  fc.constantFrom('ip6:2001:db8::1', 'ip6:2001:db8:7::/48', 'a', 'mx', 'mx/28', 'ptr'),
  host.map((one) => `include:${one}`),
  host.map((one) => `a:${one}`),
  fc.constantFrom('exists:%{i}._spf.example.net', 'include:%{d}.example.net'),
)
const end = fc.constantFrom('-all', '~all', '?all', '+all', 'all', 'redirect=_spf.example.net', '')
const more = fc.constantFrom('', '', 'exp=why.example.net', 'ra=postmaster', 'rp=10', '-all')
const record = fc
  .tuple(fc.array(anyTerm, { maxLength: 5 }), end, more)
  .map(([terms, last, other]) =>
    ['v=spf1', ...terms, last, other].filter((part) => part !== '').join(' '),
  )

/** What editors, control panels and people make of a record. */
const REPLACEMENTS: [string, string][] = [
  [' ', '\u00a0'],
  [' ', ''],
  [' ', ', '],
  [' ', ','],
  [' ', ';'],
  [' ', '; '],
  [' ', '\n'],
  [' ', '\t'],
  [' ', '  '],
  [' ', '" "'],
  [' ', '\u200b '],
  [' ', '\\160'],
  ['-', '\u2013'],
  ['-', '\u2212'],
  ['-', '\\150'],
  ['-', '- '],
  ['~', '\u223c'],
  [':', '\uff1a'],
  [':', ': '],
  [':', ' :'],
  [':', '='],
  [':', '::'],
  [':', ''],
  [':', ' '],
  ['.', '\u3002'],
  ['/', ' /'],
  ['ip4:', 'ip:'],
  ['ip4:', 'ipv4:'],
  ['ip4:', 'ip4='],
  ['ip4:', 'ip6:'],
  ['ip4:', 'a:'],
  ['ip4:', ''],
  ['ip6:', 'ip4:'],
  ['include:', 'include='],
  ['include:', 'includes:'],
  ['include:', 'include.'],
  ['include:', ''],
  ['include', '\u0456nclude'],
  ['redirect=', 'redirect:'],
  ['redirect=', 'redirect= '],
  ['all', '\u0430ll'],
  ['e', '\u0435'],
  ['o', '0'],
  ['v=spf1', 'v=spf1 v=spf1'],
  ['v=spf1', 'V=SPF1'],
  ['v=spf1 ', 'v=spf1 -all '],
  ['v=spf1 ', 'v=spf1'],
  ['all', 'all ip4:192.0.2.77'],
]

type Damage = (text: string) => string
/** Numbers from 0 to 1: where, as a part of the length. */
const place = fc.double({ min: 0, max: 0.999, noNaN: true })
const strange = fc.constantFrom(...'x-~:=./ ,;"\'%0a\u00a0\u2013\uff1a\u200b\u0430\n'.split(''))
const damage: fc.Arbitrary<Damage> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom(...REPLACEMENTS), place).map(replaceOne) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...REPLACEMENTS).map(
      ([from, to]) =>
        (text: string) =>
          text.replaceAll(from, to),
    ),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(place, fc.nat(2), strange)
      .map(([where, removed, inserted]) => (text: string) => {
        const at = Math.floor(where * text.length)
        return `${text.slice(0, at)}${inserted}${text.slice(at + removed)}`
      }),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(place, fc.integer({ min: 1, max: 12 })).map(([where, length]) => {
      return (text: string) => {
        const at = Math.floor(where * text.length)
        return text.slice(0, at + length) + text.slice(at)
      }
    }),
  },
  { weight: 1, arbitrary: place.map((where) => (text: string) => cut(text, where)) },
  { weight: 1, arbitrary: fc.constant((text: string) => `"${text}"`) },
  { weight: 1, arbitrary: fc.constant((text: string) => `${text} ${text}`) },
)

function replaceOne([[from, to], where]: [[string, string], number]): Damage {
  return (text) => {
    const found = text.indexOf(from, Math.floor(where * text.length))
    const at = found < 0 ? text.indexOf(from) : found
    return at < 0 ? text : `${text.slice(0, at)}${to}${text.slice(at + from.length)}`
  }
}

function cut(text: string, where: number): string {
  const at = Math.floor(where * text.length)
  return text.slice(0, at) + text.slice(at + 1)
}

/** A record, damaged in up to four places. */
export const damagedSpf = fc
  .tuple(record, fc.array(damage, { maxLength: 4 }))
  .map(([text, damages]) => damages.reduce((damaged, change) => change(damaged), text))

/**
 * What a text names, read by simple patterns: every IPv4 address with its length, what follows
 * `include` or `redirect`, and each word of policy with its sign.
 */
function namesOf(text: string) {
  const plain = text
    .normalize('NFKC')
    .replaceAll(/[\u200b\ufeff]/g, '')
    .replaceAll(/(?:ip[46]|include|exists):|redirect=|exp=|v=spf1/gi, ' $&')
  const addresses = [...plain.matchAll(/(?<![\d.])(\d+(?:\.\d+){3})(\/\d+)?(?![\d.])/g)]
    .filter(([, address = '']) => isIPv4(address))
    .map(([, address = '', length = '']) => `${address}${length}`)
  const targets = [...plain.matchAll(/(?:include|redirect)[:=]\s*([\w.-]+\.[a-z]{2,})/gi)].map(
    ([, target = '']) => target.replace(/-all$/i, ''),
  )
  // Of several, the first counts.
  const ends = /(?:^|[\s,;"\w])([-\u2010-\u2015\u2212~\u223c?])\s*[a\u0430]ll(?![\w.-])/i.exec(
    plain,
  )
  const isStrict = ends !== null && !/[~\u223c?]/.test(ends[1] ?? '')
  return { addresses, targets, isStrict }
}

/** Expects a proposal that stops no mail that the text permits, and is no weaker; or none. */
export function expectHarmless(text: string): void {
  const { value, unclear } = repairSpf([text])
  if (value === null) return
  expect(unclear).toEqual([])
  expect(isSpf(value), value).toBe(true)
  const { terms, errors } = parseSpf(value)
  expect(errors, value).toEqual([])
  expect(repairSpf([value]).value, value).toBe(value)
  const { addresses, targets, isStrict } = namesOf(text)
  const networks = terms.flatMap((term) =>
    term.kind === 'mechanism' && term.name === 'ip4'
      ? [rangeOfNetwork(term.value ?? '', term.cidr4 ?? 32)]
      : [],
  )
  for (const named of addresses) {
    const [address = '', length = '32'] = named.split('/')
    if (Number(length) === 0) continue
    const { first, last } = rangeOfNetwork(address, Math.min(32, Number(length)))
    const isKept = networks.some((network) => network.first <= first && last <= network.last)
    expect(isKept, `${named} of ${JSON.stringify(text)} in ${value}`).toBe(true)
  }
  for (const target of targets)
    expect(value.toLowerCase(), JSON.stringify(text)).toContain(target.toLowerCase())
  const all = terms.find(({ name }) => name === 'all')?.text ?? 'redirect'
  if (isStrict) expect(all, `${JSON.stringify(text)} became ${value}`).toBe('-all')
  expect(all, value).not.toMatch(/^[+?]?all$/)
}
