import { useAccountItems } from './groups/account-items.ts'
import { useAppearanceItems } from './groups/appearance-items.ts'
import { useCreationItems } from './groups/creation-items.ts'
import { useObjectItems } from './groups/object-items.ts'
import { useScreenItems } from './groups/screen-items.ts'
import { useWorkspaceItems } from './groups/workspace-items.ts'
import type { PaletteItem } from './palette-items.ts'

/** All entries; of long lists, those that match the text. A new group is a file in `groups/` and a line here. */
export function usePaletteItems(text: string): PaletteItem[] {
  return [
    ...useScreenItems(),
    ...useCreationItems(),
    ...useWorkspaceItems(),
    ...useAccountItems(),
    ...useAppearanceItems(),
    ...useObjectItems(text),
  ]
}
