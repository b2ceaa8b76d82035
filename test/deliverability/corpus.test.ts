import { describe, expect, it } from 'vitest'
import type { Finding } from '../../src/deliverability/mail-tests/analysis/finding.ts'
import { MAIL_CHECKS } from '../../src/deliverability/mail-tests/analysis/analyze-mail.ts'
import { FAULTS, type Fault } from './corpus/faults.ts'
import { GOOD_MAILS } from './corpus/good-mails.ts'
import { analyze, baseSpec, newsletterSpec, type MailSpec } from './corpus/world.ts'

const failures = (findings: Finding[]) => findings.filter(({ state }) => state === 'failed')
const blockers = (findings: Finding[]) =>
  failures(findings)
    .filter(({ severity }) => severity === 'blocks')
    .map(({ id }) => id)
    .toSorted()

async function expectFault(fault: Fault, base: MailSpec): Promise<void> {
  const { fails, blocks = [] } = fault
  const planted = fault.plant(base)
  const findings = await analyze({ ...base, ...planted })
  expect(failures(findings).map(({ id }) => id)).toEqual(expect.arrayContaining(fails))
  expect(blockers(findings)).toEqual(blocks.toSorted())
  for (const { fix, evidence } of failures(findings)) {
    expect(fix).toMatch(/\w/)
    expect(evidence).toMatch(/[.”…]$/)
  }
}

describe('a planted fault is named, and blocks only where it must', () => {
  it.each(FAULTS.map((fault) => [fault.name, fault] as const))(
    'in an order: %s',
    async (_name, fault) => expectFault(fault, baseSpec()),
  )
  it.each(FAULTS.map((fault) => [fault.name, fault] as const))(
    'in a newsletter: %s',
    async (_name, fault) => expectFault(fault, newsletterSpec()),
  )
})

describe('a good mail has no blocker, and nothing that hurts', () => {
  it.each(GOOD_MAILS.map((mail) => [mail.name, mail] as const))(
    '%s',
    async (_name, { spec, hints = [] }) => {
      const found = failures(await analyze(spec)).filter(
        ({ id, severity }) => severity !== 'note' && !hints.includes(id),
      )
      expect(found).toEqual([])
    },
  )
})

describe('the corpus', () => {
  it('has 200 messages or more, 50 good ones among them', () => {
    expect(GOOD_MAILS.length).toBeGreaterThanOrEqual(50)
    expect(FAULTS.length * 2 + GOOD_MAILS.length).toBeGreaterThanOrEqual(200)
  })

  it('plants a fault for each check', () => {
    const planted = new Set(FAULTS.flatMap(({ fails }) => fails))
    const missing = MAIL_CHECKS.map(({ id }) => id).filter((id) => !planted.has(id))
    // That a newsletter lacks the field is what each order shows.
    expect(missing).toEqual(['unsubscribe'])
  })

  it('has more than 45 checks', () => {
    expect(MAIL_CHECKS.length).toBeGreaterThanOrEqual(45)
    expect(new Set(MAIL_CHECKS.map(({ id }) => id)).size).toBe(MAIL_CHECKS.length)
  })
})
