import { describe, expect, it } from 'vitest'
import {
  isPage,
  MAX_SNDS_LINES,
  parseSndsData,
  parseSndsStatus,
  rangeOf,
} from '../../../src/protocols/reports/snds-report.ts'

const LINE =
  '192.0.2.1,11/28/2026 1:00 AM,11/28/2026 11:00 PM,1894,1850,1849,GREEN,< 0.1%,,,0,mx.example.com,news@example.com,'

describe('a report of SNDS', () => {
  it('has the documented columns', () => {
    expect(parseSndsData(LINE)).toEqual({
      rows: [
        {
          address: '192.0.2.1',
          day: '2026-11-28',
          rcptCommands: 1894,
          dataCommands: 1850,
          recipients: 1849,
          filter: 'green',
          complaintRate: '< 0.1%',
          complaints: { low: 0, high: 0.001 },
          trapHits: 0,
          helo: 'mx.example.com',
          mailFrom: 'news@example.com',
          comments: null,
        },
      ],
      rejected: [],
      rejectedCount: 0,
    })
  })

  it.each([
    [
      'with a header',
      `IP Address,Activity period,RCPT commands,DATA commands,Message recipients,Filter result,Complaint rate,Trap message period,Trap hits,JMR P1 Sender,Comments\n192.0.2.1,11/28/2026 1:00 AM,10,8,7,RED,0.4%,,3,a@b.test,listed`,
      { filter: 'red', trapHits: 3, mailFrom: 'a@b.test', comments: 'listed' },
    ],
    [
      'with names in camel case',
      `ipAddress,activityStart,activityEnd,rcptCommands,dataCommands,messageRecipients,filterResult,complaintRate,sampleHelo\n192.0.2.1,2026-11-28 01:00,2026-11-28 23:00,10,8,7,YELLOW,0.2%,mx`,
      { filter: 'yellow', recipients: 7, helo: 'mx', trapHits: null },
    ],
    [
      'without the columns of traps, which ended in 2026',
      '192.0.2.1,11/28/2026 1:00 AM,11/28/2026 2:00 AM,1,2,3,GREEN,0.3%,mx,a@b.test,text',
      { trapHits: null, helo: 'mx', mailFrom: 'a@b.test', comments: 'text' },
    ],
    ['with a byte order mark and CRLF', `\uFEFF${LINE}\r\n\r\n`, { filter: 'green' }],
    [
      'with commas and quotes in texts',
      `${LINE.slice(0, -1)},"say ""hello"", world"`,
      { comments: 'say "hello", world' },
    ],
    [
      'with ISO times',
      LINE.replaceAll(/11\/28\/2026 \d+:00 [AP]M/g, '2026-11-28T01:00:00'),
      { day: '2026-11-28' },
    ],
    [
      'with “None” and blanks, which are no data',
      '192.0.2.1,11/28/2026 1:00 AM,11/28/2026 2:00 AM,,,,,None,,,,,,',
      { rcptCommands: null, filter: null, complaintRate: null, complaints: null, trapHits: null },
    ],
    ['of an IPv6 address', LINE.replace('192.0.2.1', '2001:DB8:0::1'), { address: '2001:db8::1' }],
    ['with a rating that is not known', LINE.replace('GREEN', 'PURPLE'), { filter: null }],
    [
      'that ends in the first columns',
      '192.0.2.1,11/28/2026 1:00 AM,11/28/2026 2:00 AM',
      { dataCommands: null, filter: null },
    ],
    [
      'with a day that begins in the evening before',
      LINE.replace('11/28/2026 1:00 AM', '11/27/2026 11:00 PM'),
      { day: '2026-11-27' },
    ],
  ])('is read %s', (_name, text, row) => {
    expect(parseSndsData(text)).toMatchObject({ rows: [row], rejected: [] })
  })

  it.each([
    ['no address', LINE.replace('192.0.2.1', 'host'), 'no IP address: host'],
    ['a range in place of an address', LINE.replace('192.0.2.1', '192.0.2.0/24'), 'no IP address'],
    ['a day that does not exist', LINE.replaceAll('11/28/', '2/30/'), 'no time of the activity'],
    ['the day before the month', LINE.replaceAll('11/28/', '28/11/'), 'no time of the activity'],
    ['an open quotation mark', '192.0.2.1,"11/28/2026', 'a quotation mark is not closed'],
  ])('rejects a line with %s, and no other', (_name, line, reason) => {
    const { rows, rejected } = parseSndsData(`${LINE}\n${line}\n${LINE.replace('.1,', '.2,')}`)
    expect(rows.map(({ address }) => address)).toEqual(['192.0.2.1', '192.0.2.2'])
    expect(rejected).toEqual([{ line: 2, reason: expect.stringContaining(reason) }])
  })

  it('adds two activities of a day, of which the worse rating counts', () => {
    const worse = LINE.replace('GREEN', 'RED').replace('< 0.1%', '0.5%')
    const better = LINE.replace('< 0.1%', '0.2%')
    for (const text of [`${LINE}\n${worse}\n${better}`, `${worse}\n${LINE}\n${better}`])
      expect(parseSndsData(text).rows).toMatchObject([
        { dataCommands: 5550, filter: 'red', complaintRate: '0.5%' },
      ])
  })

  it('is bounded', () => {
    const lines = Array.from({ length: MAX_SNDS_LINES + 5 }, (_, index) =>
      LINE.replace('192.0.2.1', `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`),
    )
    const { rows, rejected } = parseSndsData(lines.join('\n'))
    expect(rows).toHaveLength(MAX_SNDS_LINES)
    expect(rejected).toHaveLength(5)
    const wrong = parseSndsData(Array.from({ length: 500 }, () => 'x').join('\n'))
    expect(wrong.rejected).toHaveLength(20)
    expect(wrong.rejectedCount).toBe(500)
    expect(
      parseSndsData(`${LINE.slice(0, -1)},${'x'.repeat(5_000)}`).rows[0]?.comments,
    ).toHaveLength(300)
  })

  it.each([
    ['< 0.1%', { low: 0, high: 0.001 }],
    ['<0.1%', { low: 0, high: 0.001 }],
    ['0.1%', { low: 0.001, high: 0.001 }],
    ['0%', { low: 0, high: 0 }],
    ['> 100%', { low: 1, high: null }],
    ['127.3%', { low: 1.273, high: 1.273 }],
    ['0.1% - 0.3%', { low: 0.001, high: 0.003 }],
    ['0.1', null],
    ['None', null],
    ['', null],
    ['a lot', null],
  ])('has the complaint rate “%s” as a range', (text, range) => {
    const found = rangeOf(text)
    if (range === null) expect(found).toBeNull()
    else {
      expect(found?.low).toBeCloseTo(range.low, 9)
      if (range.high === null) expect(found?.high).toBeNull()
      else expect(found?.high).toBeCloseTo(range.high, 9)
    }
  })

  it('of the status has ranges with a reason', () => {
    const text =
      'First IP,Last IP,Blocked,Details\r\n198.51.100.0,198.51.100.255,Yes,Blocked due to user complaints\r\n192.0.2.1,192.0.2.1,No,Junked\r\nhost,192.0.2.1,Yes,x\r\n192.0.2.1,192.0.2.2,perhaps,x\r\n'
    expect(parseSndsStatus(text)).toEqual({
      rows: [
        {
          first: '198.51.100.0',
          last: '198.51.100.255',
          isBlocked: true,
          detail: 'Blocked due to user complaints',
        },
        { first: '192.0.2.1', last: '192.0.2.1', isBlocked: false, detail: 'Junked' },
      ],
      rejected: [
        { line: 4, reason: 'no range of addresses' },
        { line: 5, reason: 'no “blocked”: perhaps' },
      ],
      rejectedCount: 2,
    })
  })

  it('as JSON is read like CSV, by the names of its fields', () => {
    const record = {
      ipAddress: '192.0.2.1',
      activityPeriod: '11/28/2026 1:00 AM',
      rcptCommands: 1894,
      dataCommands: 1850,
      messageRecipients: '1849',
      filterResult: 'GREEN',
      complaintRate: '< 0.1%',
      trapMessagePeriod: null,
      trapHits: 0,
      sampleHelo: 'mx.example.com',
      jmrP1Sender: 'news@example.com',
      comments: '',
      added: { later: true },
    }
    const expected = parseSndsData(LINE)
    for (const json of [[record], { value: [record] }, { count: 1, items: [record] }])
      expect(parseSndsData(JSON.stringify(json))).toEqual(expected)
    expect(parseSndsData(`\uFEFF ${JSON.stringify([record])}`)).toEqual(expected)
    expect(parseSndsData('[]')).toEqual({ rows: [], rejected: [], rejectedCount: 0 })
    const status = { beginningIpAddress: '192.0.2.1', blocked: true, reason: 'Bot' }
    expect(parseSndsStatus(JSON.stringify([status])).rows).toEqual([
      { first: '192.0.2.1', last: '192.0.2.1', isBlocked: true, detail: 'Bot' },
    ])
  })

  it.each([
    ['text/html; charset=utf-8', 'anything', true],
    ['text/csv', '\n  <!DOCTYPE html>', true],
    [null, '\uFEFF<html>', true],
    ['application/octet-stream', LINE, false],
    ['text/plain', '', false],
  ])('is distinguished from a page (%s)', (type, text, isHtml) => {
    expect(isPage(type, text)).toBe(isHtml)
  })
})
