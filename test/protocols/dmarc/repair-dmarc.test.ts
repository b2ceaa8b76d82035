import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { propertyRuns } from '../../property-runs.ts'
import { dmarcProposals } from '../../../src/domains/fixes/dmarc-fix.ts'
import { adviceOnDmarc } from '../../../src/protocols/dmarc/dmarc-advice.ts'
import { discoverDmarc } from '../../../src/protocols/dmarc/dmarc-discovery.ts'
import { DMARC_POLICIES, parseDmarc } from '../../../src/protocols/dmarc/dmarc-record.ts'
import { createDnsQueries } from '../../../src/protocols/dns-queries.ts'
import { mapResolver } from '../../resolver.ts'

const HOSTS = ['example.com', 'reports.example.net', 'r.vendor-a.example']

/** Every DMARC record that the advice and the fixes propose for these texts. */
async function proposedFor(texts: string[]): Promise<string[]> {
  const resolver = mapResolver({ '_dmarc.example.com TXT': texts })
  const queries = createDnsQueries(resolver, new AbortController().signal)
  const discovery = await discoverDmarc('example.com', queries)
  // Without what is known of the addresses, the proposal depends on the text alone.
  const about = { discovery, destinations: [], usesMail: true, receivesMail: true }
  const advice = adviceOnDmarc({ ...about, texts: [], registeredDomain: 'example.com' })
  const fixes = dmarcProposals({ ...about, advice, reportEmail: null, safePolicy: null })
  return [...advice.flatMap(({ publish }) => publish ?? []), ...fixes].flatMap(({ name, value }) =>
    name === '_dmarc.example.com' ? [value] : [],
  )
}

type Intent = { p: string; sp: string | null; np: string | null; rua: string[]; ruf: string[] }

const policy = fc.constantFrom(...DMARC_POLICIES)
const address = fc
  .tuple(
    fc.constantFrom('dmarc', 'dmarc-reports', 'a.b', 'x+y', '1p', 'none'),
    fc.constantFrom(...HOSTS),
  )
  .map(([local, host]) => `${local}@${host}`)
const intent: fc.Arbitrary<Intent> = fc.record({
  p: policy,
  sp: fc.option(policy),
  np: fc.option(policy),
  rua: fc.uniqueArray(address, { minLength: 1, maxLength: 3 }),
  ruf: fc.uniqueArray(address, { maxLength: 2 }),
})

function tagsOf({ p, sp, np, rua, ruf }: Intent): [string, string][] {
  const uris = (list: string[]) => list.map((one) => `mailto:${one}`).join(',')
  return [
    ['v', 'DMARC1'],
    ['p', p],
    ...(sp === null ? [] : [['sp', sp] as [string, string]]),
    ...(np === null ? [] : [['np', np] as [string, string]]),
    ['rua', uris(rua)],
    ...(ruf.length === 0 ? [] : [['ruf', uris(ruf)] as [string, string]]),
    ['fo', '1'],
  ]
}

const write = (wish: Intent, separator = '; ', equals = '=') =>
  tagsOf(wish)
    .map(([name, value]) => `${name}${equals}${value}`)
    .join(separator)

/** Damage that people and control panels do, and after which the meaning is still plain. */
const PLAIN_DAMAGE: Record<string, (wish: Intent) => string> = {
  'escaped semicolons': (wish) => write(wish, '\\; '),
  'twice escaped semicolons': (wish) => write(wish, '\\\\;'),
  'decimal escapes': (wish) => write(wish, '\\059 '),
  'commas as separators': (wish) => write(wish, ', '),
  'white space as separators': (wish) => write(wish, ' '),
  'colons for equals signs': (wish) => write(wish, '; ', ':'),
  'two equals signs': (wish) => write(wish, '; ', '=='),
  'no-break spaces': (wish) => write(wish, ';\u00A0', '\u00A0=\u00A0'),
  'line breaks': (wish) => write(wish, ';\n'),
  'zero-width spaces': (wish) => write(wish, '; \u200B'),
  quotes: (wish) => `"${write(wish)}"`,
  'typographic quotes': (wish) => `“${write(wish)}”`,
  'strings of a zone file': (wish) => `"${write(wish, '; " "')}"`,
  'quoted values': (wish) => write(wish, '"; ', '="').concat('"'),
  entities: (wish) => write(wish, '&#59; ', '&equals;').replaceAll('@', '&commat;'),
  'en dashes': (wish) => write(wish).replaceAll('-', '\u2013'),
  'full-width characters': (wish) => write(wish, '；', '＝').replaceAll('@', '＠'),
  'angle brackets': (wish) => write(wish).replaceAll(/mailto:([^,;]+)/g, '<mailto:$1>'),
  'addresses without mailto': (wish) => write(wish).replaceAll('mailto:', ''),
  'semicolons between addresses': (wish) => write(wish).replaceAll(',mailto', ';mailto'),
  'spaces between addresses': (wish) => write(wish).replaceAll(',mailto', ' mailto'),
  'size limits': (wish) => write(wish).replaceAll(/(@[\w.-]+)/g, '$1!10m'),
  'a missing semicolon behind the version': (wish) => write(wish).replace('DMARC1;', 'DMARC1'),
  'no space at all behind the version': (wish) => write(wish).replace('DMARC1; ', 'DMARC1'),
  'no semicolon behind a policy': (wish) =>
    write(wish).replaceAll(/(none|quarantine|reject);/g, '$1'),
  'a policy and a name in one': (wish) =>
    write(wish).replaceAll(/(none|quarantine|reject); /g, '$1'),
  capitals: (wish) => write(wish).replaceAll(/\b(p|sp|np|rua|ruf)=/g, (name) => name.toUpperCase()),
  'a lower-case version': (wish) => write(wish).replace('DMARC1', 'dmarc1'),
  'no version': (wish) => write(wish).replace('v=DMARC1; ', ''),
  'the version at the end': (wish) => write(wish).replace('v=DMARC1; ', '').concat('; v=DMARC1'),
  'a misspelt version': (wish) => write(wish).replace('DMARC1', 'DMRAC1'),
  'look-alike letters': (wish) =>
    write(wish).replaceAll('rej', 'r\u0435j').replace('p=', '\u0440='),
  'misspelt policies': (wish) =>
    write(wish).replaceAll('reject', 'rejct').replaceAll('quarantine', 'quarentine'),
  'past tense': (wish) =>
    write(wish).replaceAll('reject', 'rejected').replaceAll('ntine', 'ntined'),
  'a long name': (wish) => write(wish).replace('; p=', '; policy='),
  'a doubled policy': (wish) => write(wish).replace('; p=', '; p=none; p='),
  'a doubled rua': (wish) => write(wish).replace('; rua=', '; rua=mailto:first@example.com; rua='),
}

const strength = (word: string | null | undefined) =>
  DMARC_POLICIES.indexOf((word ?? 'none') as (typeof DMARC_POLICIES)[number])

function expectSafe(value: string, wish: Intent): void {
  const record = parseDmarc(value)
  expect(record).toMatchObject({ errors: [], invalid: [] })
  expect([...(record?.rua ?? []), ...(record?.ruf ?? [])].every(({ host }) => host !== null)).toBe(
    true,
  )
  const { p, sp, np } = record ?? {}
  expect(strength(p)).toBeGreaterThanOrEqual(strength(wish.p))
  expect(strength(sp ?? p)).toBeGreaterThanOrEqual(strength(wish.sp ?? wish.p))
  expect(strength(np ?? sp ?? p)).toBeGreaterThanOrEqual(strength(wish.np ?? wish.sp ?? wish.p))
  const named = (['rua', 'ruf'] as const).map((tag) => (record?.[tag] ?? []).map(({ uri }) => uri))
  expect(named[0]).toEqual(expect.arrayContaining(wish.rua.map((one) => `mailto:${one}`)))
  expect(named[1]).toEqual(expect.arrayContaining(wish.ruf.map((one) => `mailto:${one}`)))
}

describe('the proposal for a damaged DMARC record', () => {
  it.each(Object.entries(PLAIN_DAMAGE))(
    'with %s says all that the text says',
    async (_, damage) => {
      await fc.assert(
        fc.asyncProperty(intent, async (wish) => {
          const text = damage(wish)
          const values = await proposedFor([text])
          if (text !== write(wish)) expect(values.length).toBeGreaterThan(0)
          for (const value of values) expectSafe(value, wish)
        }),
        propertyRuns(8, 200),
      )
    },
  )

  it('in place of several records is as strict as the strictest and has all addresses', async () => {
    await fc.assert(
      fc.asyncProperty(intent, intent, async (one, other) => {
        const values = await proposedFor([write(one), `${write(other)};`])
        expect(values.length).toBeGreaterThan(0)
        for (const value of values) for (const wish of [one, other]) expectSafe(value, wish)
      }),
      propertyRuns(40, 1_000),
    )
  })

  /** One to three characters are changed, inserted, dropped or doubled, anywhere. */
  const accident = fc.record({
    kind: fc.constantFrom('change', 'insert', 'drop', 'double', 'swap'),
    at: fc.nat(400),
    character: fc.constantFrom(...Array.from(';,:= "\\\'x1-.@\u00A0\u2013\u0430\n<&')),
  })
  const hit = (
    text: string,
    { kind, at, character }: { kind: string; at: number; character: string },
  ) => {
    const place = at % text.length
    const [before, here, after] = [text.slice(0, place), text.charAt(place), text.slice(place + 1)]
    if (kind === 'drop') return before + after
    if (kind === 'double') return before + here + here + after
    if (kind === 'swap') return before + after.slice(0, 1) + here + after.slice(1)
    return before + character + (kind === 'insert' ? here : '') + after
  }

  it('after any accident is valid, never weaker than the words of the text, and loses no address', async () => {
    await fc.assert(
      fc.asyncProperty(
        intent,
        fc.array(accident, { minLength: 1, maxLength: 3 }),
        async (wish, accidents) => {
          const text = accidents.reduce(hit, write(wish))
          for (const value of await proposedFor([text])) {
            const record = parseDmarc(value)
            expect(record, value).toMatchObject({ errors: [], invalid: [] })
            const { p, sp, np } = record ?? {}
            for (const [, name, word] of text.matchAll(
              /(?<=^|; )(p|sp|np)=(none|quarantine|reject)(?=;|$)/g,
            )) {
              const applied = { p, sp: sp ?? p, np: np ?? sp ?? p }[name as 'p' | 'sp' | 'np']
              expect(strength(applied), `${text} → ${value}`).toBeGreaterThanOrEqual(strength(word))
            }
            const words = text.match(/none|quarantine|reject/g) ?? []
            const strongest = Math.max(...[p, sp, np].map(strength))
            for (const word of words)
              if (!new RegExp(`[\\w.+-]${word}|${word}@`).test(text))
                expect(strongest, `${text} → ${value}`).toBeGreaterThanOrEqual(strength(word))
            const named = [...(record?.rua ?? []), ...(record?.ruf ?? [])].map(({ uri }) => uri)
            for (const [, one] of text.matchAll(/mailto:([\w.+-]+@[a-z.-]+\.[a-z]+)(?=[,;]|$)/g))
              expect(named, `${text} → ${value}`).toContain(`mailto:${one}`)
          }
        },
      ),
      propertyRuns(480, 10_000),
    )
  })

  it.each([
    'v=DMARC1; p=block; rua=mailto:a@example.com',
    'v=DMARC1; sp=reject; rua=mailto:a@example.com',
    'v=DMARC1; p=reject; rua=mailto:a@exa mple.com',
  ])('does not exist where %j cannot be read for certain', async (text) => {
    expect(await proposedFor([text])).toEqual([])
  })
})
