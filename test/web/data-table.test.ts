import { describe, expect, it } from 'vitest'
import {
  filterRows,
  nextSorting,
  parseSorting,
  sortingText,
  sortRows,
  type Column,
} from '../../web/src/ui/lists/column.ts'
import { csvField, csvText } from '../../web/src/ui/lists/csv.ts'
import { runEach } from '../../web/src/ui/lists/run-each.ts'
import { toggleRows } from '../../web/src/ui/lists/selection.ts'

describe('a CSV file', () => {
  it.each([
    ['=1+1', `'=1+1`],
    ['+49 30 1234', `'+49 30 1234`],
    ['-2+3', `'-2+3`],
    ['@SUM(A1)', `'@SUM(A1)`],
    ['\t=1+1', `'\t=1+1`],
    ['\r=1', `"'\r=1"`],
    ['=HYPERLINK("http://example.com","x")', `"'=HYPERLINK(""http://example.com"",""x"")"`],
  ])('never has a formula: %j', (value, field) => {
    expect(csvField(value)).toBe(field)
  })

  it.each([
    ['plain', 'plain'],
    ['a,b', '"a,b"'],
    ['say "no"', '"say ""no"""'],
    ['two\nlines', '"two\nlines"'],
    ['', ''],
    [null, ''],
    [-7, '-7'],
    [1.5, '1.5'],
    [true, 'true'],
  ])('quotes what RFC 4180 says: %j', (value, field) => {
    expect(csvField(value)).toBe(field)
  })

  it('begins with a byte order mark, and every line ends with CRLF', () => {
    expect(csvText(['Host', 'Listings'], [['bücher.example', 2]])).toBe(
      '\uFEFFHost,Listings\r\nbücher.example,2\r\n',
    )
  })
})

type Row = { name: string; size: number | null; note?: string }
const ROWS: Row[] = [
  { name: 'mail10', size: 5 },
  { name: 'mail2', size: null, note: 'Outgoing mail' },
  { name: 'Alpha', size: 7 },
  { name: 'beta', size: 5 },
]
const COLUMNS: Column<Row>[] = [
  {
    key: 'name',
    title: 'Name',
    cell: ({ name }) => name,
    sort: ({ name }) => name,
    csv: ({ name }) => name,
  },
  {
    key: 'size',
    title: 'Size',
    cell: ({ size }) => size,
    sort: ({ size }) => size,
    descendsFirst: true,
  },
  { key: 'note', title: 'Note', csv: ({ note = '' }) => note },
]
const names = (rows: Row[]) => rows.map(({ name }) => name)

describe('a data table', () => {
  it('sorts names as people do', () => {
    expect(names(sortRows(ROWS, COLUMNS, { key: 'name', descending: false }))).toEqual([
      'Alpha',
      'beta',
      'mail2',
      'mail10',
    ])
  })

  it('keeps empty values last in both directions, and equal ones in their order', () => {
    expect(names(sortRows(ROWS, COLUMNS, { key: 'size', descending: false }))).toEqual([
      'mail10',
      'beta',
      'Alpha',
      'mail2',
    ])
    expect(names(sortRows(ROWS, COLUMNS, { key: 'size', descending: true }))).toEqual([
      'Alpha',
      'mail10',
      'beta',
      'mail2',
    ])
  })

  it('ignores a column that it does not have', () => {
    expect(sortRows(ROWS, COLUMNS, { key: 'nothing', descending: true })).toEqual(ROWS)
  })

  it('turns the order at the second click, and ends it at the third', () => {
    const [name, size] = COLUMNS as [Column<Row>, Column<Row>]
    const first = nextSorting(size, parseSorting('name'))
    expect(sortingText(first)).toBe('-size')
    expect(sortingText(nextSorting(size, first))).toBe('size')
    expect(nextSorting(size, parseSorting('size'))).toBe(null)
    expect(sortingText(nextSorting(name, null))).toBe('name')
    expect(sortingText(null)).toBe(undefined)
  })

  it('finds rows with all words, also in columns of the file only', () => {
    expect(names(filterRows(ROWS, COLUMNS, 'MAIL outgoing'))).toEqual(['mail2'])
    expect(names(filterRows(ROWS, COLUMNS, ' '))).toEqual(names(ROWS))
    expect(filterRows(ROWS, COLUMNS, 'mail none')).toEqual([])
  })
})

describe('a selection', () => {
  const ids = ['a', 'b', 'c', 'd']
  const toggle = (selected: string[], change: Parameters<typeof toggleRows>[2]) =>
    [...toggleRows(new Set(selected), ids, change)].toSorted()

  it('grows by one row, or by all rows up to the anchor', () => {
    expect(toggle(['a'], { id: 'c', isOn: true, anchor: null })).toEqual(['a', 'c'])
    expect(toggle(['a'], { id: 'c', isOn: true, anchor: 'a' })).toEqual(['a', 'b', 'c'])
    expect(toggle(['d'], { id: 'b', isOn: true, anchor: 'd' })).toEqual(['b', 'c', 'd'])
  })

  it('shrinks in the same way, and ignores an anchor that is not shown', () => {
    expect(toggle(ids, { id: 'a', isOn: false, anchor: 'c' })).toEqual(['d'])
    expect(toggle(['a'], { id: 'c', isOn: true, anchor: 'gone' })).toEqual(['a', 'c'])
  })
})

describe('an action for many rows', () => {
  it('runs a few at a time, continues after failures and reports them by row', async () => {
    let running = 0
    let most = 0
    const progress: number[] = []
    const run = async (row: number) => {
      most = Math.max(most, ++running)
      await Promise.resolve()
      running -= 1
      if (row % 10 === 0) throw new Error(`no ${row}`)
    }
    const rows = Array.from({ length: 30 }, (_, at) => at + 1)
    const failures = await runEach(rows, run, (done) => progress.push(done))
    expect(failures.map(({ row, reason }) => [row, reason])).toEqual([
      [10, 'no 10'],
      [20, 'no 20'],
      [30, 'no 30'],
    ])
    expect(most).toBe(4)
    expect(progress).toEqual(rows)
  })
})
