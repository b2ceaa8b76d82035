import { scopes as messages, type Module, type Scope } from './messages.ts'

/** The modules of the API that a token can be limited to, in the order of the navigation. */
export const MODULES = Object.keys(messages.modules) as Module[]

/** The presets of the form; `module` lets the user choose one. */
export const PRESETS = ['read', 'module', 'custom', 'all'] as const
export type Preset = (typeof PRESETS)[number]

export type ScopeFields = Record<string, string>

/** The name of the field with the access to a module. */
export const accessField = (module: Module) => `access ${module}`

/** The scopes of the form’s values; undefined for a token without limits. */
export function scopesOf(values: ScopeFields): Scope[] | undefined {
  const { preset, module, right = 'read' } = values
  if (preset === 'read') return ['*:read']
  if (preset === 'module') return [`${module}:${right}` as Scope]
  if (preset !== 'custom') return undefined
  return MODULES.flatMap((each) => {
    const chosen = values[accessField(each)]
    return chosen === 'read' || chosen === 'write' ? [`${each}:${chosen}` as Scope] : []
  })
}

/** `Monitoring (read and write), Checks (read)`; what a token may do, in words. */
export function describeScopes(scopes: readonly string[] | null): string {
  if (scopes === null) return messages.everything
  return scopes
    .map((scope) => {
      const [module = '', right] = scope.split(':')
      const name =
        module === '*' ? messages.allModules : (messages.modules[module as Module] ?? module)
      return messages.scope(name, right === 'write')
    })
    .join(', ')
}
