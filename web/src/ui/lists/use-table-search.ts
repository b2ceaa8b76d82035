import { useNavigate, useSearch } from '@tanstack/react-router'
import { searchText, type Search } from '../../search.ts'
import { parseSorting, sortingText, type Sorting } from './column.ts'

/** The search parameters of a data table; a screen with two tables names those of the second. */
export type TableParameters = { sort: string; filter: string }

const DEFAULT_PARAMETERS: TableParameters = { sort: 'sort', filter: 'q' }

/** Sorting and filter of a data table in the URL, so that people can save and share them. */
export function useTableSearch(parameters = DEFAULT_PARAMETERS) {
  const search: Search = useSearch({ strict: false })
  const navigate = useNavigate()
  function change(changed: Search): void {
    const apply = (before: Search) => ({ ...before, page: undefined, ...changed })
    void navigate({ to: '.', search: apply as never, replace: true, resetScroll: false })
  }
  return {
    sorting: parseSorting(searchText(search[parameters.sort])),
    filter: searchText(search[parameters.filter]) ?? '',
    sortBy: (sorting: Sorting | null) => change({ [parameters.sort]: sortingText(sorting) }),
    filterBy: (text: string) => change({ [parameters.filter]: text || undefined }),
  }
}
