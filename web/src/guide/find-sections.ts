import { rankOf } from '../search-rank.ts'

/** A section of a page of the guide, as the build writes it to `search.json`. */
export type Section = {
  /** From the folder of the guide: `dmarc.html#sources`. */
  url: string
  page: string
  /** The same as `page` for the text in front of the first heading. */
  heading: string
  /** Words of the section in lower case, each once. */
  words: string
  /** Of a generated page, which names nearly everything. */
  isReference?: true
}

const MAX_FOUND = 8

/** Words of questions that say nothing about the subject. */
const FILLERS =
  /^(?:a|an|and|can|do|does|for|from|get|how|i|in|is|it|my|of|on|or|our|the|to|what|when|where|which|who|why|with|you|your)$/

/**
 * Finds the sections about a question: those in which most of its words occur, and of these the ones
 * whose heading or page has them in the name.
 */
export function findSections(typed: string, sections: readonly Section[]): Section[] {
  const all = typed.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []
  const meaningful = all.filter((word) => !FILLERS.test(word))
  const words = meaningful.length > 0 ? meaningful : all
  if (words.length === 0) return []
  const text = words.join(' ')
  return sections
    .map((section) => ({ section, score: scoreOf(section, words, text) }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
    .slice(0, MAX_FOUND)
    .map(({ section }) => section)
}

/**
 * The section with this id, where exactly one page that people write has it: a section can move to
 * another page, and links to it stay.
 */
export function findMoved(id: string, sections: readonly Section[]): Section | undefined {
  const found = sections.filter((section) => !section.isReference && idOf(section) === id)
  return found.length === 1 ? found[0] : undefined
}

/** The id of the heading, also where it is the title of a page. */
const idOf = ({ url, heading }: Section) =>
  url.split('#')[1] ??
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')

/** Each word counts where it occurs: 100 at all, and more in a name. */
function scoreOf(section: Section, words: string[], text: string): number {
  const { page, heading, words: content, isReference } = section
  const found = words.filter((word) => beginsAWord(`${heading} ${page} ${content}`, word))
  if (found.length === 0) return 0
  const inHeading = found.filter((word) => beginsAWord(heading, word)).length
  const inPage = found.filter((word) => beginsAWord(page, word)).length
  // A reference page names nearly everything.
  const isBeside = isReference === true && inHeading < found.length
  return (
    100 * found.length +
    20 * inHeading +
    15 * inPage +
    10 * rankOf(heading, `${page} ${content}`, text) -
    (isBeside ? 50 : 0)
  )
}

/** “restore” finds “restores” and “restored”. */
function beginsAWord(text: string, word: string): boolean {
  const stem = word.length > 4 ? word.replace(/(?:ing|ed|es|s|e)$/, '') : word
  return ` ${text.toLowerCase()}`.replace(/[^\p{L}\p{N}_]+/gu, ' ').includes(` ${stem}`)
}
