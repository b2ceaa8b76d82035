import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_ROWS, readBulk } from '../../src/abuse/intake/bulk.ts'
import { findService, SERVICES, serviceOfCategories } from '../../src/abuse/services.ts'
import { Fault } from '../../src/errors.ts'
import { START } from './evidence.ts'

const HEADER = 'IP,Categories,ReportDate,Comment'
const read = (text: string) => readBulk(text, START)
const summary = (text: string) =>
  read(text).map((row) =>
    'report' in row
      ? [row.line, row.report.subject.ip, row.report.service, row.report.count]
      : [row.line, row.error],
  )

describe('JSON lines', () => {
  it('are read row by row; a wrong one is named and the others are taken', () => {
    const text = [
      '{"ip":"8.8.4.4","service":"sshd","count":5,"port":22}',
      '',
      'nonsense',
      '{"ip":"10.0.0.1","service":"ssh"}',
      '{"ip":"8.8.4.4","service":"nothing"}',
      '{"ip":"8.8.4.4"}',
      '{"ip":"8.8.4.4","service":"ssh","port":"22"}',
      '{"ip":"8.8.4.4","service":"ssh","count":0}',
      '[]',
      'null',
      '{"ip":"2606:4700::1","service":"imap"}',
    ].join('\r\n')
    const rows = summary(text)
    expect(rows.map(([line]) => line)).toEqual([1, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    expect(rows[0]).toEqual([1, '8.8.4.4', 'ssh', 5])
    expect(rows.at(-1)).toEqual([11, '2606:4700::1', 'imap', 1])
    expect(rows[3]?.[1]).toContain('GET /api/v1/abuse/report')
    expect(rows.slice(1, -1).every((row) => row.length === 2)).toBe(true)
  })

  it('are required, up to a limit', () => {
    expect(() => read('\n\n')).toThrow(Fault)
    const row = '{"ip":"8.8.4.4","service":"ssh"}\n'
    expect(read(row.repeat(MAX_ROWS))).toHaveLength(MAX_ROWS)
    expect(() => read(row.repeat(MAX_ROWS + 1))).toThrow(Fault)
  })
})

describe('AbuseIPDB’s CSV', () => {
  it('is read with its quotes, line ends and commas, and without its comments', () => {
    const text =
      `\uFEFF${HEADER}\r\n8.8.4.4,"18,22",2026-11-21T11:00:00Z,"root, ""admin""\nand more"\r\n` +
      '8.8.8.8,14,2026-11-21T11:00:00Z,\n10.0.0.1,18,2026-11-21T11:00:00Z,x\n'
    const rows = summary(text)
    expect(rows.slice(0, 2)).toEqual([
      [2, '8.8.4.4', 'ssh', 1],
      [4, '8.8.8.8', 'portscan', 1],
    ])
    expect(rows[2]?.[0]).toBe(5)
    expect(JSON.stringify(read(text))).not.toContain('admin')
  })

  it('rejects rows that are old, in the future, or without a category', () => {
    const rows = ['2026-11-19T11:00:00Z', '2026-12-24T11:00:00Z', 'yesterday'].map(
      (date) => `8.8.4.4,22,${date},`,
    )
    const found = summary(
      [HEADER, ...rows, '8.8.4.4,99,2026-11-21T11:00:00Z,', '8.8.4.4,,,'].join('\n'),
    )
    expect(
      found.map(([line, error]) => [line, typeof error === 'string' && error.endsWith('.')]),
    ).toEqual([2, 3, 4, 5, 6].map((line) => [line, true]))
    expect(found.every((row) => row.length === 2)).toBe(true)
  })

  it('answers every text with rows or a Fault', () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', 'a', '8.8.4.4') }),
    )
    fc.assert(
      fc.property(text, fc.boolean(), (body, csv) => {
        try {
          return read(csv ? `${HEADER}\n${body}` : body).every(({ line }) => line > 0)
        } catch (error) {
          return error instanceof Fault
        }
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('the services', () => {
  it('are found by id and by fail2ban’s names, in any case', () => {
    for (const name of ['ssh', 'sshd', 'SSHD']) expect(findService(name)?.id).toBe('ssh')
    expect(findService('constructor')).toBeUndefined()
    expect(SERVICES.length).toBeGreaterThan(100)
  })

  it('have each name once', () => {
    const names = SERVICES.flatMap(({ id, aliases }) => [id, ...aliases])
    expect(new Set(names).size).toBe(names.length)
  })

  it('are found by AbuseIPDB’s categories', () => {
    expect(serviceOfCategories([18, 22])?.id).toBe('ssh')
    expect(serviceOfCategories([18, 22])?.id).toBe('ssh')
    for (let number = 1; number <= 23; number++) expect(serviceOfCategories([number])).toBeDefined()
    expect(serviceOfCategories([])).toBeUndefined()
    expect(serviceOfCategories([NaN, 99])).toBeUndefined()
  })
})
