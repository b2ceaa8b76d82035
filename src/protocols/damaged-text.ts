/**
 * Published texts that are damaged in a known way: escapes of zone files, quotation marks, HTML,
 * typographic characters and letters that only look like Latin ones. Receivers read none of this;
 * proposals must, or they would lose what the text says.
 */

const ENTITIES: Record<string, string> = {
  amp: '&',
  quot: '"',
  apos: "'",
  lt: '<',
  gt: '>',
  semi: ';',
  equals: '=',
  colon: ':',
  comma: ',',
  commat: '@',
  period: '.',
  excl: '!',
  nbsp: ' ',
  ndash: '-',
  mdash: '-',
  hyphen: '-',
}

/** Characters of other alphabets, each before the one that it looks like (Unicode, UTS #39). */
const LOOK_ALIKES = new Map(
  (
    'аa АA ВB сc СC ԁd еe ЕE һh НH іi ІI јj ЈJ кk КK ӏl мm МM оo ОO рp РP ԛq ѕs ЅS тt ТT ѵv ԝw хx ' +
    'ХX уy УY αa ΑA ΒB εe ΕE ΖZ ηn ΗH ιi ΙI κk ΚK ΜM νv ΝN οo ΟO ρp ΡP τt ΤT υu ΥY χx ΧX ıi ɑa ɡg ' +
    '∶: ꞉: ː: ؛; ⁏; ،, 、, ꞊='
  )
    .split(' ')
    .map((pair) => Array.from(pair) as [string, string]),
)

/** The text as its author meant to write it, with one space for any white space. */
export function cleanText(text: string): string {
  return (
    decode(text)
      .normalize('NFKC')
      .replaceAll(/\p{Cf}/gu, '')
      .replaceAll(/[\p{Z}\p{Cc}]+/gu, ' ')
      .replaceAll(/\p{Pd}|\u2212/gu, '-')
      .replaceAll(
        /[^\x20-\x7E\p{L}\p{M}]/gu,
        (character) => LOOK_ALIKES.get(character) ?? character,
      )
      .replaceAll(/[\p{L}\p{M}\p{N}]+/gu, latinWord)
      .replaceAll(/<\/?(?:br|p|div|span|code|pre) ?\/?>/gi, ' ')
      // The strings of one record in a zone file belong together.
      .replaceAll(/["“”„«»]( ?["“”„«»])?/g, '')
      .replaceAll(/(^|[ ;,=:])['‘’`]+|['‘’`]+(?=[ ;,]|$)/g, '$1')
      .replaceAll(/ {2,}/g, ' ')
      .trim()
  )
}

function decode(text: string): string {
  return text
    .replaceAll(
      /&(?:#(\d{1,6})|#x([\da-f]{1,5})|([a-z]{2,8}));/gi,
      (entity, decimal, hex, name) => {
        if (name !== undefined) return ENTITIES[String(name).toLowerCase()] ?? entity
        const code = Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10)
        return code <= 0x10_ffff ? String.fromCodePoint(code) : entity
      },
    )
    .replaceAll(/\\+(?:(\d{3})|(?=\D|$))/g, (_escape, code?: string) =>
      code === undefined ? '' : String.fromCodePoint(Number(code)),
    )
}

/** Names of hosts may be of another alphabet as a whole; a word of two alphabets is a mistake. */
function latinWord(word: string, at: number, whole: string): string {
  const isLatin = /^[\x20-\x7E]*$/.test(word)
  if (isLatin) return word
  const isInName = /[.@-]/.test(whole[at - 1] ?? '') || /[.@-]/.test(whole[at + word.length] ?? '')
  if (isInName && !/[A-Za-z]/.test(word)) return word
  const latin = Array.from(word, (letter) => LOOK_ALIKES.get(letter) ?? letter).join('')
  return isInName ? latin : latin.normalize('NFD').replaceAll(/\p{M}/gu, '')
}

/** The one word that is meant: itself, or the only one that differs in few characters; or null. */
export function meantWord(word: string, words: readonly string[], atMost: number): string | null {
  const lower = word.toLowerCase()
  if (words.includes(lower)) return lower
  const near = words.filter(
    (one) => editDistance(lower, one) <= Math.min(atMost, Math.max(1, one.length - 3)),
  )
  return near.length === 1 ? (near[0] ?? null) : null
}

/** Letters that were changed, inserted, dropped, or exchanged with their neighbour. */
function editDistance(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > 3) return Infinity
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)]
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1]
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      current[column] = Math.min(
        (rows[row - 1]?.[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (rows[row - 1]?.[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (rows[row - 2]?.[column - 2] ?? Infinity) + 1 : Infinity,
      )
    }
    rows.push(current)
  }
  return rows[one.length]?.[other.length] ?? Infinity
}
