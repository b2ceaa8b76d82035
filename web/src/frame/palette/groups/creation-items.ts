import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, type LinkProps } from '@tanstack/react-router'
import type { IconName } from '../../../ui/brand/icons.tsx'
import { useHasRole } from '../../../workspaces/roles.ts'
import { endpointsQuery, webhooks } from '../../../webhooks/api.ts'
import { focusField } from '../focus-field.ts'
import { palette as messages } from '../../messages.ts'
import { reportProblem, type PaletteItem } from '../palette-items.ts'

type Form = {
  name: string
  keywords?: string
  icon?: IconName
  to: LinkProps['to']
  field: string
  /** Whether read-only members may send it. */
  isForEverybody?: true
}

/** Screens that begin with a form: the field with that name takes the focus. */
const FORMS: Form[] = [
  { name: messages.checkDomain, to: '/check', field: 'q', icon: 'search', isForEverybody: true },
  {
    name: messages.addHost,
    to: '/monitoring',
    field: 'host',
    keywords: messages.addHostKeywords,
  },
  { name: messages.addDomain, to: '/dmarc', field: 'domain' },
  { name: messages.addMailbox, to: '/dmarc/mailboxes', field: 'host' },
  { name: messages.newMigration, to: '/migrations/new', field: 'host' },
  { name: messages.newDelisting, to: '/delisting/new', field: 'ip' },
  { name: messages.newToken, to: '/tokens', field: 'label' },
  {
    name: messages.newChannel,
    to: '/alerts/channels/new',
    field: 'service',
    keywords: messages.newChannelKeywords,
  },
  { name: messages.newRule, to: '/alerts/rules', field: 'name' },
]

/** New objects, and checks. */
export function useCreationItems(): PaletteItem[] {
  const navigate = useNavigate()
  const queries = useQueryClient()
  const canCreate = useHasRole('member')
  const kind = messages.kinds.action
  const forms = FORMS.filter(({ isForEverybody }) => canCreate || isForEverybody)

  async function createEndpoint(): Promise<void> {
    const { id } = await webhooks.create({ label: '' })
    await queries.invalidateQueries(endpointsQuery)
    await navigate({ to: '/hooks/$id', params: { id } })
  }

  const newEndpoint: PaletteItem = {
    name: messages.newEndpoint,
    kind,
    icon: 'plus',
    open: () => void createEndpoint().catch(reportProblem),
  }
  return [
    ...forms.map(({ name, keywords, icon = 'plus', to, field }): PaletteItem => {
      return {
        name,
        kind,
        icon,
        ...(keywords && { keywords }),
        open: () => void navigate({ to }).then(() => focusField(field)),
      }
    }),
    ...(canCreate ? [newEndpoint] : []),
  ]
}
