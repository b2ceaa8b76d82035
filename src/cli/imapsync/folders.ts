import type { Folder } from '../../net/imap/folders/list-folders.ts'
import type { MigrateOptions } from '../../migration/engine/migration-options.ts'
import { DAY_SECONDS } from '../../time.ts'
import { UsageError } from '../command.ts'
import type { Arguments } from './parse-arguments.ts'
import { perlPattern, perlSubstitution } from './perl-patterns.ts'

/** Chooses the folders of the source. */
export function createFolderChoice(args: Arguments): (folders: readonly Folder[]) => Folder[] {
  const patternsOf = (name: string) =>
    args.valuesOf(name).map((source) => perlPattern(source, name))
  const [included, excluded] = [patternsOf('include'), patternsOf('exclude')]
  const [exact, recursive] = [args.valuesOf('folder'), args.valuesOf('folderrec')]
  const isSubscribed = args.switchOf('subscribed') === true
  const isAll = !isSubscribed && [included, exact, recursive].every(({ length }) => length === 0)

  function isWanted({ path, delimiter, subscribed }: Folder): boolean {
    return (
      exact.some((name) => isSame(name, path)) ||
      recursive.some((name) => isSame(name, path) || path.startsWith(name + (delimiter ?? '/'))) ||
      included.some((pattern) => pattern.test(path)) ||
      (isSubscribed && subscribed)
    )
  }

  return (folders) =>
    folders
      .filter(({ isSelectable }) => isSelectable)
      .filter((folder) => isAll || isWanted(folder))
      .filter(({ path }) => !excluded.some((pattern) => pattern.test(path)))
      .filter(({ messages }) => messages !== 0 || args.switchOf('skipemptyfolders') !== true)
}

function isSame(name: string, path: string): boolean {
  return name === path || (name.toUpperCase() === 'INBOX' && path.toUpperCase() === 'INBOX')
}

/** The options of the engine. */
export function migrateOptionsOf(args: Arguments): MigrateOptions {
  const substitutions = args
    .valuesOf('regextrans2')
    .map((text) => perlSubstitution(text, 'regextrans2'))
  const before = (name: string) => Date.now() - (args.numberOf(name) ?? 0) * DAY_SECONDS * 1_000
  const sizes = ['maxsize', 'appendlimit'].flatMap((name) => args.numberOf(name) ?? [])
  const limitOf = (name: string) => args.numberOf(name) || Infinity
  const isGiven = (name: string) => args.numberOf(name) !== undefined
  return {
    prefix: args.valueOf('subfolder2') ?? '',
    folderMap: Object.fromEntries(args.valuesOf('f1f2').map(pairOf)),
    ...(substitutions.length > 0 && {
      renameFolder: (path) => substitutions.reduce((name, change) => change(name), path),
    }),
    specialUse: args.switchOf('automap') ?? false,
    allMailOnce: args.switchOf('skipcrossduplicates') ?? false,
    deduplicate: true,
    withNewMail: true,
    dryRun: args.switchOf('dry') ?? false,
    subscribe: subscriptionsOf(args),
    rate: {
      bytesPerSecond: limitOf('maxbytespersecond'),
      messagesPerSecond: limitOf('maxmessagespersecond'),
    },
    filter: {
      ...(sizes.length > 0 && { maxBytes: Math.min(...sizes) }),
      ...(isGiven('minsize') && { minBytes: args.numberOf('minsize') ?? 0 }),
      ...(isGiven('maxage') && { notBefore: before('maxage') }),
      ...(isGiven('minage') && { notAfter: before('minage') }),
      none: args.switchOf('justfolders') ?? false,
    },
  }
}

function subscriptionsOf(args: Arguments): 'subscribed' | 'all' | 'none' {
  if (args.switchOf('subscribeall')) return 'all'
  return args.switchOf('subscribe') === false ? 'none' : 'subscribed'
}

function pairOf(text: string): [string, string] {
  const at = text.indexOf('=')
  if (at < 1 || at === text.length - 1)
    throw new UsageError(`--f1f2 ${text} must have the form FROM=TO.`)
  return [text.slice(0, at), text.slice(at + 1)]
}
