import type { Pool } from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Column } from '../../src/store/copy/binary-copy.ts'
import { createCopyIn } from '../../src/store/copy/copy-in.ts'
import { emptyDatabase, type FreshDatabase } from '../database.ts'

type Thing = {
  id: string | Buffer
  name: string | null
  bytes: Buffer | null
  told: unknown
  address: string | null
  small: number | null
  large: number | null
  part: number | null
  isNew: boolean | null
  at: Date | null
}

const COLUMNS: Column<Thing>[] = [
  ['id', 'uuid', ({ id }) => id],
  ['name', 'text', ({ name }) => name],
  ['bytes', 'bytea', ({ bytes }) => bytes],
  ['told', 'json', ({ told }) => (told === null ? null : JSON.stringify(told))],
  ['address', 'inet', ({ address }) => address],
  ['small', 'int2', ({ small }) => small],
  ['large', 'int8', ({ large }) => large],
  ['part', 'float4', ({ part }) => part],
  ['is_new', 'bool', ({ isNew }) => isNew],
  ['at', 'timestamptz', ({ at }) => at],
]

const ID = '01a20432-548d-72e7-88f0-d3837e57301a'
const NOTHING: Thing = {
  id: ID,
  name: null,
  bytes: null,
  told: null,
  address: null,
  small: null,
  large: null,
  part: null,
  isNew: null,
  at: null,
}

let fresh: FreshDatabase
let pool: Pool
beforeEach(async () => {
  fresh = await emptyDatabase()
  pool = fresh.pool
  await pool.query(`create table thing (seq int generated always as identity, id uuid, name text, bytes bytea, told json,
    address inet, small int2, large int8, part float4, is_new bool, at timestamptz)`)
})
afterEach(() => fresh.drop())

const copyIn = (deadline = 10_000) =>
  createCopyIn(pool, { table: 'thing', columns: COLUMNS, deadline })

async function kept(): Promise<unknown[]> {
  const { rows } =
    await pool.query(`select id, name, bytes, told, host(address) as address, small, large::float8 as large,
    part, is_new as "isNew", at from thing order by seq`)
  return rows
}

describe('rows that are copied in', () => {
  it('arrive as they are, in their order', async () => {
    const things: Thing[] = [
      {
        id: ID,
        name: '',
        bytes: Buffer.alloc(0),
        told: [['a', '"\\\u0001']],
        address: '192.0.2.255',
        small: -32_768,
        large: -1,
        part: -0.5,
        isNew: false,
        at: new Date('1969-12-31T23:59:59.999Z'),
      },
      {
        id: ID.replaceAll('0', 'f'),
        name: 'Ünïcode 漢字 🚢',
        bytes: Buffer.from([0, 255, 10]),
        told: { deep: [null] },
        address: '2001:db8::ff',
        small: 32_767,
        large: Number.MAX_SAFE_INTEGER,
        part: 0.25,
        isNew: true,
        at: new Date('2026-11-22T10:20:30.456Z'),
      },
      NOTHING,
    ]
    await copyIn()('select 1', things)
    expect(await kept()).toEqual(things)
  })

  it('get enough memory, however long they are, and the next reuse it', async () => {
    const copy = copyIn()
    const lengths = [70_000, 3, 1, 2_000, 1_500_000]
    const things = lengths.map((length, i) => ({
      ...NOTHING,
      name: '漢'.repeat(length / (i + 1)),
      bytes: Buffer.alloc(length, i),
      told: 'x'.repeat(length),
    }))
    await copy('select 1', things)
    await copy('select 1', [NOTHING])
    expect(await kept()).toEqual([...things, NOTHING])
  })

  it('may be more at once than connections, each with its own', async () => {
    const copy = copyIn()
    const names = Array.from({ length: 40 }, (_, i) => `${i} `.repeat(1_000))
    await Promise.all(names.map((name) => copy('select 1', [{ ...NOTHING, name }])))
    expect(new Set(((await kept()) as Thing[]).map(({ name }) => name))).toEqual(new Set(names))
  })

  it('accept an id as bytes', async () => {
    await copyIn()('select 1', [{ ...NOTHING, id: Buffer.from(ID.replaceAll('-', ''), 'hex') }])
    expect(await kept()).toEqual([NOTHING])
  })

  it('may be empty', async () => {
    await copyIn()('select 1', [])
    expect(await kept()).toEqual([])
  })
})

describe('the statement before them', () => {
  it('returns its rows as text', async () => {
    expect(await copyIn()("values (1, 'a'), (2, null)", [NOTHING])).toEqual([
      ['1', 'a'],
      ['2', null],
    ])
  })

  it('is undone with them when one cannot be stored', async () => {
    const copy = createCopyIn<Thing>(pool, {
      table: 'thing',
      columns: [['told', 'json', ({ name }) => name]],
      deadline: 10_000,
    })
    const things = ['1', 'no JSON'].map((name) => ({ ...NOTHING, name }))
    await expect(
      copy("insert into thing (name) values ('before') returning id", things),
    ).rejects.toMatchObject({
      code: '22P02',
    })
    expect(await kept()).toEqual([])
  })

  it('prevents storing when it fails, but not the next copy', async () => {
    const copy = copyIn()
    const many = Array.from({ length: 1_000 }, () => ({ ...NOTHING, name: 'x'.repeat(1_000) }))
    await expect(copy('select 1 / 0', many)).rejects.toMatchObject({ code: '22012' })
    await copy('select 1', [NOTHING])
    expect(await kept()).toEqual([NOTHING])
  })

  it('and all of it fail after the deadline, or when the connection breaks', async () => {
    await expect(copyIn(50)('select pg_sleep(1)', [NOTHING])).rejects.toThrow('timeout')
    await expect(
      copyIn()('select pg_terminate_backend(pg_backend_pid())', [NOTHING]),
    ).rejects.toThrow()
    expect(await kept()).toEqual([])
  })
})
