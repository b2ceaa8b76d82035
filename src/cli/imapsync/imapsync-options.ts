/**
 * Every option of imapsync’s command line, as its documentation names them. The parser, the help
 * and docs/imapsync-options.md follow from this table.
 */
export type Option = {
  /** A placeholder such as `FILE`; an option without one is a switch. */
  value?: string
  /** The value is a number. */
  isNumber?: true
  multiple?: true
  aliases?: readonly string[]
  /**
   * - `used`: has an effect
   * - `accepted`: needs none here, for the reason in `summary`
   * - `deletes`: has its effect only with `--confirm-deletion`
   * - `refused`: ends the run, for the reason in `summary`
   */
  effect: 'used' | 'accepted' | 'deletes' | 'refused'
  /** For switches: also refuses or accepts the form with `no`, which then has its own effect. */
  negated?: 'used' | 'accepted' | 'refused'
  summary: string
}

type Options = Readonly<Record<string, Option>>

/** An option of each side, such as `host1` and `host2`. */
function bothSides<Name extends string>(
  name: Name,
  option: Option,
): Record<`${Name}${1 | 2}`, Option> {
  const entries = ([1, 2] as const).map((side) => {
    const where = side === 1 ? 'the source' : 'the destination'
    return [`${name}${side}`, { ...option, summary: option.summary.replace('this side', where) }]
  })
  return Object.fromEntries(entries) as Record<`${Name}${1 | 2}`, Option>
}

/** Options that need no effect, with one reason. */
function accepted<const Name extends string>(
  names: readonly Name[],
  summary: string,
  option: Omit<Option, 'effect' | 'summary'> = {},
): Record<Name, Option> {
  return group(names, { ...option, effect: 'accepted', summary, negated: 'accepted' })
}

/** Options that end the run, with one reason. The form with `no` is the default, so it is accepted. */
function refused<const Name extends string>(
  names: readonly Name[],
  summary: string,
  option: Omit<Option, 'effect' | 'summary'> = {},
): Record<Name, Option> {
  return group(names, { negated: 'accepted', ...option, effect: 'refused', summary })
}

function group<Name extends string>(names: readonly Name[], option: Option): Record<Name, Option> {
  return Object.fromEntries(names.map((name) => [name, option])) as Record<Name, Option>
}

const used = (summary: string, option: Omit<Option, 'effect' | 'summary'> = {}): Option => ({
  ...option,
  effect: 'used',
  summary,
})

const NUMBER = { value: 'N', isNumber: true } as const

const ACCOUNTS = {
  ...bothSides('host', used('server of this side', { value: 'HOST' })),
  ...bothSides('port', used('its port: 993 with TLS, otherwise 143', NUMBER)),
  ...bothSides('user', used('user of this side', { value: 'USER' })),
  ...bothSides(
    'password',
    used('password; other users of the machine can see it for a moment', { value: 'TEXT' }),
  ),
  ...bothSides(
    'passfile',
    used('file whose first line is the password of this side', { value: 'FILE' }),
  ),
  ...bothSides('ssl', used('TLS from the start at this side', { negated: 'used' })),
  ...bothSides('tls', used('require STARTTLS at this side', { negated: 'used' })),
  ...bothSides(
    'sslargs',
    used('SSL_verify_mode=0 accepts every certificate of this side, 1 none that is invalid', {
      value: 'NAME=VALUE',
      multiple: true,
    }),
  ),
  sslcheck: used('verify the certificates of both sides; the default except for local servers', {
    negated: 'used',
  }),
  ...bothSides(
    'authmech',
    used('PLAIN, LOGIN or XOAUTH2 (the password is then an access token)', { value: 'NAME' }),
  ),
  ...bothSides(
    'authuser',
    used('administrator whose password opens the mailbox of this side', { value: 'USER' }),
  ),
  ...bothSides(
    'oauthaccesstoken',
    used('access token of this side, or a file whose first line is one', { value: 'TOKEN' }),
  ),
  ...bothSides('gmail', used('imap.gmail.com with TLS as this side')),
  ...bothSides('office', used('outlook.office365.com with TLS as this side')),
}

const FOLDERS = {
  folder: used('copy only this folder', { value: 'FOLDER', multiple: true }),
  folderrec: used('copy only this folder and those below it', { value: 'FOLDER', multiple: true }),
  subscribed: used('copy only folders that are subscribed at the source'),
  include: used('copy only folders that match', { value: 'REGEX', multiple: true }),
  exclude: used('leave out folders that match', {
    value: 'REGEX',
    multiple: true,
    negated: 'used',
  }),
  skipemptyfolders: used('leave out folders without messages', { negated: 'accepted' }),
  automap: used('map folders to those of the same special use (Sent, Drafts, …)', {
    negated: 'accepted',
  }),
  f1f2: used('copy folder FROM to folder TO', {
    value: 'FROM=TO',
    multiple: true,
    negated: 'used',
  }),
  regextrans2: used('change the names of destination folders', {
    value: 's/FROM/TO/',
    multiple: true,
  }),
  subfolder2: used('put everything under this folder', { value: 'FOLDER' }),
  subscribe: used('subscribe to folders that are subscribed at the source; the default', {
    negated: 'used',
  }),
  subscribeall: used('subscribe to all copied folders', {
    aliases: ['subscribe_all'],
    negated: 'accepted',
  }),
}

const MESSAGES = {
  maxsize: used('leave out larger messages, in bytes', NUMBER),
  minsize: used('leave out smaller messages, in bytes', NUMBER),
  appendlimit: used('the same as --maxsize', NUMBER),
  maxage: used('leave out messages that are older, in days', NUMBER),
  minage: used('leave out messages that are younger, in days', NUMBER),
  skipcrossduplicates: used('copy from Gmail’s All Mail only messages that no other folder has', {
    negated: 'accepted',
  }),
}

const RUN = {
  dry: used('copy nothing', { negated: 'accepted' }),
  justlogin: used('sign in at both sides and end', { negated: 'accepted' }),
  justfolders: used('create the folders, copy no message', { negated: 'accepted' }),
  justfoldersizes: used('list the folders with their sizes and end', { negated: 'accepted' }),
  maxbytespersecond: used('average bytes per second', NUMBER),
  maxmessagespersecond: used('average messages per second', NUMBER),
  exitwhenover: used('end with code 118 after this many bytes', NUMBER),
  errorsmax: used('end with code 112 after this many errors', NUMBER),
  log: used('write a log file: --logfile in --logdir', { negated: 'used' }),
  logfile: used('name of the log file', { value: 'FILE' }),
  logdir: used('folder of the log file', { value: 'FOLDER' }),
  pidfile: used('file for the number of the process', { value: 'FILE' }),
  pidfilelocking: used('end with code 8 if the file of --pidfile exists', { negated: 'accepted' }),
  version: used('print the version'),
}

const OWN = {
  'confirm-deletion': used('Portreeve’s own: allow the deletions that the other options request'),
  state: used('Portreeve’s own: folder for the state of migrations', { value: 'FOLDER' }),
}

const DELETIONS: Options = {
  delete1: {
    aliases: ['delete'],
    negated: 'accepted',
    effect: 'deletes',
    summary: 'delete messages at the source that the destination has',
  },
  expunge1: {
    aliases: ['expunge'],
    negated: 'used',
    effect: 'deletes',
    summary: 'with --delete1, which does it by default: remove them at once',
  },
  delete2: {
    negated: 'accepted',
    effect: 'deletes',
    summary: 'delete messages in copied folders of the destination that the source folder lacks',
  },
  delete2duplicates: {
    negated: 'accepted',
    effect: 'deletes',
    summary: 'delete messages in copied folders of the destination that are there twice',
  },
}

const ACCEPTED = {
  ...accepted(
    ['sep1', 'sep2'],
    'delimiters of folders are detected, here and for the prefixes of namespaces',
    { value: 'TEXT' },
  ),
  ...accepted(
    ['timeout', 'timeout1', 'timeout2', 'reconnectretry1', 'reconnectretry2', 'split1', 'split2'],
    'time limits, retries and batch sizes adapt to the servers',
    NUMBER,
  ),
  ...accepted(
    ['buffersize', 'maxbytesafter', 'maxsleep'],
    'rates are averages over the whole run',
    NUMBER,
  ),
  ...accepted(
    ['keepalive1', 'keepalive2', 'compress1', 'compress2', 'fastio1', 'fastio2', 'id'],
    'connections are tuned automatically',
  ),
  ...accepted(
    ['authmd5', 'authmd51', 'authmd52', 'trylogin', 'inet4', 'inet6', 'ipv4', 'ipv6'],
    'the mechanism and the address are chosen automatically',
  ),
  ...accepted(['exchange1', 'exchange2', 'domino1', 'domino2'], 'no special modes are needed'),
  ...accepted(
    ['foldersizes', 'foldersizesatend', 'checkselectable', 'checkfoldersexist', 'mixfolders'],
    'folders are listed with their sizes in one command',
  ),
  ...accepted(
    ['checkmessageexists', 'abletosearch', 'abletosearch1', 'abletosearch2'],
    'handled automatically',
  ),
  ...accepted(
    ['addheader', 'useuid', 'usecache', 'cacheaftercopy', 'skipsize', 'allowsizemismatch'],
    'messages are identified without changing them, and the state of the run is stored',
  ),
  ...accepted(
    ['useheader', 'skipheader', 'folderfirst', 'folderlast', 'tmpdir', 'tmphash'],
    'identification, order and temporary files are chosen automatically',
    { value: 'TEXT' },
  ),
  ...accepted(
    ['wholeheaderifneeded', 'messageidnodomain', 'syncduplicates', 'uid1', 'uid2', 'fixslash2'],
    'messages are identified by Message-ID or content, and duplicates of the source are kept',
  ),
  ...accepted(
    ['syncflagsaftercopy', 'resyncflags', 'filterflags', 'filterbuggyflags', 'flagscase'],
    'flags are copied, and added later; unusual ones are handled',
  ),
  ...accepted(
    ['expungeaftereach', 'uidexpunge2', 'sanitize', 'create_folder_old', 'fixcolonbug'],
    'done automatically where it applies',
  ),
  ...accepted(
    ['releasecheck', 'modulesversion', 'modules_version', 'tail', 'showpasswords', 'errorsdump'],
    'nothing is checked online, and passwords are never shown',
  ),
  ...accepted(
    [
      'debug',
      'debugcontent',
      'debugcrossduplicates',
      'debugfolders',
      'debugflags',
      'debugimap',
      'debugimap1',
      'debugimap2',
      'debuglist',
      'debugmemory',
      'debugssl',
      'dockercontext',
    ],
    'the output has no debug lines',
  ),
  ...accepted(
    ['sigexit', 'sigignore', 'sigreconnect'],
    'SIGINT and SIGTERM end the run, which can be resumed',
    { value: 'TEXT' },
  ),
  syncinternaldates: {
    effect: 'accepted',
    negated: 'refused',
    summary: 'dates are always kept; --nosyncinternaldates is refused',
  },
} satisfies Options

const REFUSED = {
  ...refused(
    ['pipemess', 'regexmess', 'skipmess', 'regexflag', 'maxlinelengthcmd'],
    'messages and flags are never changed, and no code from the command line is run',
    { value: 'CODE' },
  ),
  ...refused(
    ['truncmess', 'maxlinelength', 'minmaxlinelength'],
    'messages are never cut; rejected ones are listed with the response of the server',
    NUMBER,
  ),
  ...refused(['disarmreadreceipts', 'idatefromheader'], 'messages and dates are never changed'),
  ...refused(['search', 'search1', 'search2'], 'use --maxage, --minage, --maxsize or --minsize', {
    value: 'TEXT',
  }),
  ...refused(['prefix1', 'prefix2'], 'prefixes are detected; use --subfolder2 for another place', {
    value: 'TEXT',
  }),
  subfolder1: {
    value: 'FOLDER',
    effect: 'refused',
    summary: 'use --folderrec, with --regextrans2 to rename',
  },
  ...refused(['f1f2h', 'delete2foldersonly', 'delete2foldersbutnot'], 'not supported', {
    value: 'TEXT',
  }),
  ...refused(
    ['delete2folders', 'delete1emptyfolders', 'expunge2'],
    'folders are never deleted, nor messages that other programs marked as deleted',
  ),
  ...refused(['synclabels', 'resynclabels'], 'labels of Gmail become folders'),
  syncacls: {
    effect: 'refused',
    negated: 'accepted',
    summary: 'access rights refer to users of one server',
  },
  ...refused(['proxyauth1', 'proxyauth2'], 'use --authuser1 or --authuser2'),
  ...refused(
    ['domain1', 'domain2', 'oauthdirect1', 'oauthdirect2'],
    'this sign-in is not supported',
    {
      value: 'TEXT',
    },
  ),
  ...refused(
    [
      'justconnect',
      'justbanner',
      'justautomap',
      'justfolderlists',
      'abort',
      'abortbyfile',
      'tests',
    ],
    'use --justlogin, --dry or --justfoldersizes',
  ),
} satisfies Options

/** All options by name, in groups of the documentation. */
export const OPTION_GROUPS = {
  Accounts: ACCOUNTS,
  Folders: FOLDERS,
  Messages: MESSAGES,
  Run: RUN,
  Deletions: DELETIONS,
  'Portreeve’s own': OWN,
  Accepted: ACCEPTED,
  Refused: REFUSED,
} satisfies Record<string, Options>

export const OPTIONS: Options = Object.assign({}, ...Object.values(OPTION_GROUPS))
