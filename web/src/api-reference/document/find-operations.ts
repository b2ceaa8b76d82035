import type { Group, Operation } from './reference.ts'

/**
 * Groups with the operations that contain every word of the search: in summary, path, method,
 * operation id, name of the group, or a parameter.
 */
export function findOperations(groups: Group[], search: string): Group[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return groups
  return groups
    .map((group) => ({
      ...group,
      operations: group.operations.filter((operation) => {
        const text = searchText(group, operation)
        return words.every((word) => text.includes(word))
      }),
    }))
    .filter(({ operations }) => operations.length > 0)
}

function searchText(group: Group, operation: Operation): string {
  const { method, path, summary, id, parameters } = operation
  const names = parameters.map(({ name }) => name)
  return [method, path, summary, id, group.name, ...names].join(' ').toLowerCase()
}
