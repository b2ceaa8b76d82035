import type { AlertChannelType } from '../api.ts'
import { picker } from './messages.ts'

export type TypeGroup = { group: AlertChannelType['group']; types: AlertChannelType[] }

/**
 * Finds the services for a search text: each of its words begins a word of their name, their
 * keywords or their group.
 */
export function searchTypes(types: readonly AlertChannelType[], text: string): AlertChannelType[] {
  const typed = wordsOf(text)
  return types.filter((type) => {
    const words = wordsOf(`${type.name} ${type.id} ${type.keywords} ${groupWords(type)}`)
    return typed.every((each) => words.some((word) => word.startsWith(each)))
  })
}

/** The services by group, in the order of the groups. */
export function groupTypes(types: readonly AlertChannelType[]): TypeGroup[] {
  const byGroup = Map.groupBy(types, ({ group }) => group)
  return Object.keys(picker.groups)
    .map((name) => name as AlertChannelType['group'])
    .flatMap((group) => {
      const members = byGroup.get(group)
      return members ? [{ group, types: members }] : []
    })
}

function groupWords({ group }: AlertChannelType): string {
  const { name, words } = picker.groups[group]
  return `${name} ${words}`
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}
