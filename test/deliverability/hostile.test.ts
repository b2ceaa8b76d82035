import { firstStepOf, verdictOfMail } from '../../src/deliverability/mail-tests/mail-verdict.ts'
import { describe, expect, it } from 'vitest'
import {
  evaluateReceivers,
  compareFindings,
} from '../../src/deliverability/mail-tests/analysis/receivers.ts'
import { MAIL_CHECKS } from '../../src/deliverability/mail-tests/analysis/analyze-mail.ts'
import { analyze, baseSpec } from './corpus/world.ts'

/** Milliseconds for one analysis; far above what it takes, for busy machines. */
const BOUND_MS = 20_000

const MIB = 1024 * 1024
const HOSTILE: Record<string, string> = {
  'nothing at all': '',
  'one byte': 'x',
  '10 MB of blanks': ' '.repeat(10 * MIB),
  '10 MB of line feeds': '\n'.repeat(10 * MIB),
  // Beyond Latin-1, regular expressions over long texts need more of the stack.
  '3 million letters beyond Latin-1': `Subject: ${'я'.repeat(MIB)}\r\n\r\n${'я'.repeat(2 * MIB)}`,
  '3 million blanks beyond Latin-1': `Subject: я${' '.repeat(MIB)}\u2003${'\u2003'.repeat(MIB)}\r\n\r\n${'\u2003'.repeat(MIB)}`,
  '8 MB of blanks as HTML beside a letter': `Content-Type: text/html; charset=utf-8\r\n\r\nя${' '.repeat(8 * MIB)}`,
  '8 MB of letters as HTML': `Content-Type: text/html; charset=utf-8\r\n\r\n${'я'.repeat(4 * MIB)}`,
  '10 MB in one header field': `X: ${'y'.repeat(10 * MIB)}`,
  '200,000 header fields': 'A: b\r\n'.repeat(200_000),
  '100 levels of multipart': Array.from(
    { length: 100 },
    (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`,
  ).join(''),
  'one boundary 300,000 times': `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(300_000)}`,
  'almost a boundary 1,000,000 times': `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--bx\r\n'.repeat(1_000_000)}`,
  '1,000,000 tags': `Content-Type: text/html\r\n\r\n${'<b>'.repeat(1_000_000)}`,
  '1,000,000 brackets': `Content-Type: text/html\r\n\r\n${'<'.repeat(1_000_000)}`,
  'a tag without an end': `Content-Type: text/html\r\n\r\n<a ${'x="'.repeat(300_000)}`,
  '100,000 links': `Content-Type: text/html\r\n\r\n${Array.from({ length: 100_000 }, (_, n) => `<a href="https://h${n}.test/">x</a>`).join('')}`,
  '100,000 scripts without an end': `Content-Type: text/html\r\n\r\n${'<script>'.repeat(100_000)}`,
  '50,000 addresses': `From: ${'a@b.test, '.repeat(50_000)}x@y.test\r\n\r\nx`,
  'nested comments': `From: ${'('.repeat(200_000)}\r\n\r\nx`,
  '5,000 signatures':
    'DKIM-Signature: v=1; a=rsa-sha256; d=x.test; s=s; h=from; bh=AAAA; b=AAAA\r\n'.repeat(5_000),
  'encoded words without an end': `Subject: ${'=?utf-8?Q?'.repeat(100_000)}\r\n\r\nx`,
}

describe('a hostile mail', () => {
  it.each(Object.keys(HOSTILE))(
    'is analyzed within bounds: %s',
    async (name) => {
      const started = performance.now()
      const findings = await analyze(baseSpec(), { bytes: Buffer.from(HOSTILE[name] ?? '') })
      expect(findings).toHaveLength(MAIL_CHECKS.length)
      expect(performance.now() - started).toBeLessThan(BOUND_MS)
      expect(Buffer.byteLength(JSON.stringify(findings))).toBeLessThan(128 * 1024)
    },
    60_000,
  )
})

describe('the first step', () => {
  const hint = {
    state: 'failed',
    severity: 'note',
    title: 'Brand logo',
    evidence: 'None.',
    fix: 'Wait.',
  } as const
  const block = { ...hint, severity: 'blocks', title: 'DMARC', fix: 'Sign it.' } as const
  const young = { title: 'Age of the domain', state: 'notice', sentence: 'It is new.' } as const
  const unknown = { ...young, title: 'Neighbors', state: 'unknown' } as const

  it('is about the gravest problem, before what lies beside the mail', () => {
    expect(firstStepOf('done', [block, hint], [young])).toBe('Start with “DMARC”: Sign it.')
  })
  it('is about the sender where the mail is green', () => {
    expect(firstStepOf('done', [hint], [unknown, young])).toBe(
      'Start with “Age of the domain”: It is new.',
    )
  })
  it('says where to look where nothing is known to be wrong, and nothing too early', () => {
    expect(firstStepOf('done', [hint], [unknown])).toMatch(/Create a canary/)
    const lists = {
      ...block,
      state: 'not-checked',
      title: 'Lists',
      evidence: 'No answer.',
    } as const
    expect(firstStepOf('done', [hint, lists], [])).toBe('“Lists” is not known: No answer.')
    expect(verdictOfMail('done', [hint, lists])).toContain('Not checked: Lists.')
    expect(firstStepOf('analyzing', [block], [])).toBeNull()
  })
})

describe('the requirements of receivers', () => {
  it('are decided by checks that are more than a note', () => {
    const needed = new Set(
      evaluateReceivers([]).flatMap(({ requirements }) =>
        requirements.flatMap((one) => one.checks),
      ),
    )
    expect(MAIL_CHECKS.filter(({ id, severity }) => needed.has(id) && severity === 'note')).toEqual(
      [],
    )
  })
  it('are counted for each, and what was not checked is not met', async () => {
    const verdicts = evaluateReceivers(await analyze(baseSpec()))
    const gmail = verdicts.find(({ title }) => title.startsWith('Gmail, below'))
    expect(gmail).toMatchObject({ passedCount: 9 })
    expect(gmail?.requirements).toHaveLength(10)
    expect(gmail?.requirements.at(-1)).toMatchObject({ state: 'not-checked' })
  })

  it('name what changed from one mail to the next', async () => {
    const before = await analyze({ ...baseSpec(), signatures: [] })
    const after = await analyze(baseSpec())
    expect(compareFindings(before, after)).toContainEqual({
      id: 'dkim',
      title: 'DKIM',
      before: 'failed',
      after: 'passed',
    })
  })
})
