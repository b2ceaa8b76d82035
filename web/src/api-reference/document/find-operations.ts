import type { Group, Operation } from './reference.ts'

/**
 * Groups with the operations that contain every word of the search: in summary, path, method,
 * operation id, name of the group, or a parameter. Those whose summary has all words come first.
 */
export function findOperations(groups: Group[], search: string): Group[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return groups
  const found = groups.map((group) => ({
    ...group,
    operations: group.operations
      .filter((operation) => contains(searchText(group, operation), words))
      .toSorted((one, other) => rankOf(other, words) - rankOf(one, words)),
  }))
  const bestOf = ({ operations: [first] }: Group) => (first ? rankOf(first, words) : 0)
  return found
    .filter(({ operations }) => operations.length > 0)
    .toSorted((one, other) => bestOf(other) - bestOf(one))
}

const contains = (text: string, words: string[]) => words.every((word) => text.includes(word))

/** 2: the summary has all words and begins with the first; 1: it has all words. */
function rankOf({ summary }: Operation, words: string[]): number {
  const text = summary.toLowerCase()
  if (!contains(text, words)) return 0
  return text.startsWith(words[0] ?? '') ? 2 : 1
}

function searchText(group: Group, operation: Operation): string {
  const { method, path, summary, id, parameters } = operation
  const names = parameters.map(({ name }) => name)
  return [method, path, summary, id, group.name, ...names].join(' ').toLowerCase()
}
