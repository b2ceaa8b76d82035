import {
  array,
  assert,
  asyncProperty,
  property,
  string,
  stringMatching,
  tuple,
  uint8Array,
} from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseFormFields } from '../../web/src/webhooks/body/form-fields.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

async function sent(form: FormData): Promise<{ type: string; body: Uint8Array }> {
  const response = new Response(form)
  return {
    type: response.headers.get('content-type') ?? '',
    body: new Uint8Array(await response.arrayBuffer()),
  }
}

describe('the fields of a form that was sent', () => {
  it('are the fields of a form in a page, in order', () => {
    expect(
      parseFormFields(
        'application/x-www-form-urlencoded; charset=utf-8',
        bytes('a=1&b=two+words&a=%C3%BC&c'),
      ),
    ).toEqual([
      { name: 'a', fileName: null, type: null, value: '1', bytes: 1 },
      { name: 'b', fileName: null, type: null, value: 'two words', bytes: 9 },
      { name: 'a', fileName: null, type: null, value: 'ü', bytes: 2 },
      { name: 'c', fileName: null, type: null, value: '', bytes: 0 },
    ])
  })
  it('are the parts of one with files, whatever is in them', async () => {
    const form = new FormData()
    form.append('words', 'zwölf\r\n--and not a boundary\r\n')
    form.append('empty', '')
    form.append(
      'file',
      new Blob([Uint8Array.of(0, 255, 13, 10, 128)], { type: 'image/png' }),
      'Bild ü.png',
    )
    form.append('twin', 'zwölf\r\n--and not a boundary\r\n')
    const { type, body } = await sent(form)
    expect(parseFormFields(type, body)).toMatchObject([
      { name: 'words', fileName: null, value: 'zwölf\r\n--and not a boundary\r\n', bytes: 30 },
      { name: 'empty', value: '', bytes: 0 },
      { name: 'file', fileName: 'Bild ü.png', type: 'image/png', value: null, bytes: 5 },
      { name: 'twin', value: 'zwölf\r\n--and not a boundary\r\n' },
    ])
  })
  it('are decoded as encoded', async () => {
    const field = tuple(stringMatching(/^[a-z]{1,8}$/), string({ unit: 'grapheme-ascii' }))
    await assert(
      asyncProperty(array(field, { maxLength: 5 }), async (fields) => {
        const form = new FormData()
        for (const [name, value] of fields) form.append(name, value)
        const { type, body } = await sent(form)
        expect(parseFormFields(type, body)?.map(({ name, value }) => [name, value])).toEqual(fields)
      }),
    )
  })
  it('are absent where the content type is no form', () => {
    expect(parseFormFields('application/json', bytes('{}'))).toBeNull()
    expect(parseFormFields(null, bytes('a=b'))).toBeNull()
    expect(parseFormFields('multipart/form-data', bytes('a=b'))).toBeNull()
  })
  it('are read from any bytes and boundary without breaking', () => {
    assert(
      property(
        uint8Array({ maxLength: 300 }),
        string({ minLength: 1, maxLength: 20 }),
        (body, boundary) => {
          parseFormFields(`multipart/form-data; boundary="${boundary}"`, body)
          parseFormFields('application/x-www-form-urlencoded', body)
        },
      ),
    )
  })
})
