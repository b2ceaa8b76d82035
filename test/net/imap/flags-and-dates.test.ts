import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  parseDateHeader,
  serialiseDate,
  storableFlags,
} from '../../../src/net/imap/append/flags-and-dates.ts'
import { anyText } from '../../any-text.ts'

const NOW = Date.UTC(2026, 10, 21)
const SYSTEM = ['\\Answered', '\\Deleted', '\\Draft', '\\Flagged', '\\Seen']

describe('flags that may be sent', () => {
  it('are the five in exact case and keywords that are atoms', () => {
    const flags = [
      '\\SEEN',
      '\\deleted',
      '\\Recent',
      '\\Junk',
      '\\RECEIPTCHECKED',
      '$Forwarded',
      'NonJunk',
      'TEST:FLAG211',
    ]
    expect(
      storableFlags([...flags, 'a b', 'a(b', 'a"b', 'NIL', 'x]', 'ü', '', 'k'.repeat(101)], null),
    ).toEqual({
      flags: ['$Forwarded', 'NonJunk', 'TEST:FLAG211', '\\Deleted', '\\Seen'],
      dropped: [
        '\\Junk',
        '\\RECEIPTCHECKED',
        'a b',
        'a(b',
        'a"b',
        'NIL',
        'x]',
        'ü',
        '',
        'k'.repeat(101),
      ],
    })
  })

  it('are only the ones that the folder stores', () => {
    expect(
      storableFlags(['\\Seen', '\\Draft', '$Label1', 'other'], ['\\Seen', '$label1']).flags,
    ).toEqual(['$Label1', '\\Seen'])
    expect(storableFlags(['\\Draft', 'other'], ['\\Seen', '\\*']).flags).toEqual(['other'])
  })

  it('never contain anything but atoms, for any source', () => {
    const anything = fc.array(
      fc.oneof(
        anyText(),
        fc.string().map((text) => `\\${text}`),
      ),
    )
    fc.assert(
      fc.property(anything, fc.option(anything), (flags, permanent) => {
        for (const flag of storableFlags(flags, permanent).flags) {
          expect(
            SYSTEM.includes(flag) || /^[!#$&'+\-./0-9:;<=>?@A-Z[^_`a-z|}~]{1,100}$/.test(flag),
          ).toBe(true)
          expect(flag.toUpperCase()).not.toBe('NIL')
        }
      }),
    )
  })
})

describe('dates that may be sent', () => {
  it.each([
    [' 1-Jul-2024 08:09:10 +0200', ' 1-Jul-2024 08:09:10 +0200'],
    ['1-jul-2024 08:09:10 +0200', ' 1-Jul-2024 08:09:10 +0200'],
    ['01-Jul-2024 08:09:10 -0930', ' 1-Jul-2024 08:09:10 -0930'],
    ['29-Feb-2024 23:59:60 +0000', '29-Feb-2024 23:59:59 +0000'],
    ['31-Dec-1904 00:00:00', '31-Dec-1904 00:00:00 +0000'],
    ['22-Nov-2026 00:00:00 +0100', '22-Nov-2026 00:00:00 +0100'],
    ['31-Feb-2001 25:61:06 +0000', null],
    ['29-Feb-2023 10:00:00 +0000', null],
    ['01-Jan-2099 10:00:00 +0000', ' 1-Jan-2099 10:00:00 +0000'],
    ['31-Dec-9999 23:59:59 +1400', '31-Dec-9999 23:59:59 +1400'],
    ['01-Jan-1899 10:00:00 -1200', ' 1-Jan-1899 10:00:00 -1200'],
    ['29-Feb-0096 10:00:00 +0000', '29-Feb-0096 10:00:00 +0000'],
    ['29-Feb-0095 10:00:00 +0000', null],
    ['01-Foo-2020 10:00:00 +0000', null],
    ['01-Jan-2020 10:00:00 +9900', null],
    ['01-Jan-2020 10:00:00 +0000" {5+}', null],
    ['', null],
  ])('%j is sent as %j', (raw, sent) => {
    expect(serialiseDate(raw)).toBe(sent)
  })

  it('are valid dates or nothing, for any source, and parse to themselves', () => {
    const nearly = fc.stringMatching(
      /^[ \d]\d-(Jan|Feb|jun|XXX)-(19|20)\d\d \d\d:\d\d:\d\d [+-]\d{4}$/,
    )
    fc.assert(
      fc.property(fc.oneof(nearly, fc.string()), (raw) => {
        const sent = serialiseDate(raw)
        if (sent === null) return
        expect(sent).toMatch(/^[ \d]\d-[A-Z][a-z]{2}-\d{4} [0-2]\d:[0-5]\d:[0-5]\d [+-]\d{4}$/)
        expect(serialiseDate(sent)).toBe(sent)
      }),
    )
  })

  it.each([
    ['Mon, 1 Jul 2024 08:09:10 +0200 (CEST)', ' 1-Jul-2024 08:09:10 +0200'],
    ['1 Jul 2024 8:09 GMT', ' 1-Jul-2024 08:09:00 +0000'],
    ['Mon,  1 Jul 2024\r\n 08:09:10 PST', ' 1-Jul-2024 08:09:10 -0800'],
    ['yesterday', null],
  ])('the header %j gives %j', (header, sent) => {
    expect(parseDateHeader(header, NOW)).toBe(sent)
  })
})
