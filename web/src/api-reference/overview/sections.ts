/** Sections of the overview that the navigation links to; also their fragments. */
export const SECTION_LINKS = [
  'authentication',
  'conventions',
  'errors',
  'limits',
  'streams',
  'clients',
] as const

export type SectionName = (typeof SECTION_LINKS)[number] | 'operations'
