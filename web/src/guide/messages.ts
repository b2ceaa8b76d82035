/** Texts of the guide’s frame; its pages are in docs/. */
export const guide = {
  title: 'Portreeve guide',
  brand: 'Portreeve',
  name: 'Guide',
  skip: 'Skip to the page',
  search: 'Search the guide',
  pages: 'Pages',
  onThisPage: 'On this page',
  dashboard: 'Dashboard',
  api: 'API reference',
  copy: 'Copy',
  copied: 'Copied',
  noResults: (typed: string) => `No results for “${typed}”`,
} as const
