import { languageMatcher } from '#lib/languages.ts';

/** Names in braces are filled in. */
const english = {
  codeSubject: 'Your sign-in code',
  code: 'Your code to sign in: {code}\n\nIt is valid for {minutes} minutes and works once. If you did not ask for it, ignore this email, and never pass the code on.',
  invitationSubject: 'You are invited to {workspace}',
  invitation:
    '{inviter} invites you to the workspace “{workspace}”.\n\nSign in at {url} with this address and accept the invitation with this token, which is valid for {days} days:\n\n{token}\n\nIf you do not expect this invitation, ignore this email.',
  quotaSubject: '{workspace} has nearly used a quota',
  quota:
    'The workspace “{workspace}” has {used} of at most {quota} {unit} of {resource}.\n\nThe API operation workspaces.usage says what happens beyond that, and how to free some. The operator can set a larger quota.',
  domainBrokenSubject: 'DNS records of {domains} are not in order',
  domainBroken:
    'The workspace “{workspace}” sends from {domains}. DNS records of it that were in order are not so any more.\n\nThe API operation domains.get says which record is wrong, and has a link to a page with all of them. Mails from a domain wait once nothing proves it, or no key of it can be read, for 24 hours.',
  domainHealedSubject: 'DNS records of {domains} are in order again',
  domainHealed:
    'The workspace “{workspace}” sends from {domains}. All DNS records of it are in order again, and nothing is to be done.',
};

export type MailWords = typeof english;

const words: Record<string, MailWords> = {
  en: english,
  fr: {
    codeSubject: 'Votre code de connexion',
    code: 'Votre code de connexion : {code}\n\nIl est valable {minutes} minutes et ne sert qu’une fois. Si vous ne l’avez pas demandé, ignorez cet e-mail et ne transmettez jamais le code.',
    invitationSubject: 'Vous êtes invité à rejoindre {workspace}',
    invitation:
      '{inviter} vous invite à rejoindre l’espace de travail « {workspace} ».\n\nConnectez-vous sur {url} avec cette adresse et acceptez l’invitation avec ce jeton, valable {days} jours :\n\n{token}\n\nSi vous n’attendez pas cette invitation, ignorez cet e-mail.',
    quotaSubject: '{workspace} a presque atteint un quota',
    quota:
      'L’espace de travail « {workspace} » a {used} {unit} de {resource} sur {quota} au plus.\n\nL’opération workspaces.usage de l’API dit ce qui se passe au-delà et comment en libérer. L’opérateur peut fixer un quota plus grand.',
    domainBrokenSubject: 'Des enregistrements DNS de {domains} ne sont plus corrects',
    domainBroken:
      'L’espace de travail « {workspace} » envoie depuis {domains}. Des enregistrements DNS qui étaient corrects ne le sont plus.\n\nL’opération domains.get de l’API dit lequel est en cause et donne un lien vers une page qui les montre tous. Les e-mails d’un domaine attendent si, pendant 24 heures, rien ne le prouve ou si aucune de ses clés n’est lisible.',
    domainHealedSubject: 'Les enregistrements DNS de {domains} sont de nouveau corrects',
    domainHealed:
      'L’espace de travail « {workspace} » envoie depuis {domains}. Tous ses enregistrements DNS sont de nouveau corrects ; il n’y a rien à faire.',
  },
  de: {
    codeSubject: 'Ihr Anmeldecode',
    code: 'Ihr Code zum Anmelden: {code}\n\nEr gilt {minutes} Minuten lang und nur einmal. Wenn Sie ihn nicht angefordert haben, ignorieren Sie diese E-Mail, und geben Sie den Code niemals weiter.',
    invitationSubject: 'Sie sind zu {workspace} eingeladen',
    invitation:
      '{inviter} lädt Sie zum Arbeitsbereich „{workspace}“ ein.\n\nMelden Sie sich auf {url} mit dieser Adresse an und nehmen Sie die Einladung mit diesem Token an, das {days} Tage lang gilt:\n\n{token}\n\nWenn Sie diese Einladung nicht erwarten, ignorieren Sie diese E-Mail.',
    quotaSubject: '{workspace} hat ein Kontingent fast erreicht',
    quota:
      'Der Arbeitsbereich „{workspace}“ hat {used} von höchstens {quota} {unit} von {resource}.\n\nDie API-Operation workspaces.usage sagt, was darüber hinaus geschieht und wie etwas frei wird. Der Betreiber kann ein größeres Kontingent setzen.',
    domainBrokenSubject: 'DNS-Einträge von {domains} sind nicht in Ordnung',
    domainBroken:
      'Der Arbeitsbereich „{workspace}“ sendet von {domains}. DNS-Einträge, die in Ordnung waren, sind es nicht mehr.\n\nDie API-Operation domains.get sagt, welcher Eintrag falsch ist, und hat einen Link zu einer Seite mit allen. E-Mails einer Domain warten, wenn sie 24 Stunden lang nichts beweist oder keiner ihrer Schlüssel lesbar ist.',
    domainHealedSubject: 'DNS-Einträge von {domains} sind wieder in Ordnung',
    domainHealed:
      'Der Arbeitsbereich „{workspace}“ sendet von {domains}. Alle DNS-Einträge sind wieder in Ordnung; es ist nichts zu tun.',
  },
  es: {
    codeSubject: 'Su código de acceso',
    code: 'Su código para iniciar sesión: {code}\n\nEs válido durante {minutes} minutos y solo una vez. Si no lo ha solicitado, ignore este correo y no comparta nunca el código.',
    invitationSubject: 'Le invitan a {workspace}',
    invitation:
      '{inviter} le invita al espacio de trabajo «{workspace}».\n\nInicie sesión en {url} con esta dirección y acepte la invitación con este token, válido durante {days} días:\n\n{token}\n\nSi no espera esta invitación, ignore este correo.',
    quotaSubject: '{workspace} casi ha agotado una cuota',
    quota:
      'El espacio de trabajo «{workspace}» tiene {used} de un máximo de {quota} {unit} de {resource}.\n\nLa operación workspaces.usage de la API dice qué ocurre más allá y cómo liberar espacio. El operador puede fijar una cuota mayor.',
    domainBrokenSubject: 'Hay registros DNS de {domains} que no son correctos',
    domainBroken:
      'El espacio de trabajo «{workspace}» envía desde {domains}. Hay registros DNS que eran correctos y ya no lo son.\n\nLa operación domains.get de la API dice qué registro está mal y tiene un enlace a una página con todos. Los correos de un dominio esperan si durante 24 horas nada lo prueba o ninguna de sus claves se puede leer.',
    domainHealedSubject: 'Los registros DNS de {domains} vuelven a ser correctos',
    domainHealed:
      'El espacio de trabajo «{workspace}» envía desde {domains}. Todos sus registros DNS vuelven a ser correctos y no hay nada que hacer.',
  },
  pt: {
    codeSubject: 'O seu código de acesso',
    code: 'O seu código para iniciar sessão: {code}\n\nÉ válido durante {minutes} minutos e apenas uma vez. Se não o pediu, ignore este e-mail e nunca partilhe o código.',
    invitationSubject: 'Convite para {workspace}',
    invitation:
      '{inviter} convida-o para o espaço de trabalho “{workspace}”.\n\nInicie sessão em {url} com este endereço e aceite o convite com este token, válido durante {days} dias:\n\n{token}\n\nSe não espera este convite, ignore este e-mail.',
    quotaSubject: '{workspace} quase atingiu uma quota',
    quota:
      'O espaço de trabalho “{workspace}” tem {used} de, no máximo, {quota} {unit} de {resource}.\n\nA operação workspaces.usage da API diz o que acontece para além disso e como libertar espaço. O operador pode definir uma quota maior.',
    domainBrokenSubject: 'Há registos DNS de {domains} que não estão corretos',
    domainBroken:
      'O espaço de trabalho “{workspace}” envia a partir de {domains}. Há registos DNS que estavam corretos e já não estão.\n\nA operação domains.get da API diz qual é o registo errado e tem uma ligação para uma página com todos. Os e-mails de um domínio esperam se, durante 24 horas, nada o provar ou nenhuma das suas chaves puder ser lida.',
    domainHealedSubject: 'Os registos DNS de {domains} estão de novo corretos',
    domainHealed:
      'O espaço de trabalho “{workspace}” envia a partir de {domains}. Todos os seus registos DNS estão de novo corretos e não há nada a fazer.',
  },
  it: {
    codeSubject: 'Il tuo codice di accesso',
    code: 'Il tuo codice per accedere: {code}\n\nÈ valido per {minutes} minuti e una sola volta. Se non lo hai richiesto, ignora questa email e non comunicare mai il codice.',
    invitationSubject: 'Invito a {workspace}',
    invitation:
      '{inviter} ti invita allo spazio di lavoro “{workspace}”.\n\nAccedi a {url} con questo indirizzo e accetta l’invito con questo token, valido per {days} giorni:\n\n{token}\n\nSe non ti aspetti questo invito, ignora questa email.',
    quotaSubject: '{workspace} ha quasi raggiunto una quota',
    quota:
      'Lo spazio di lavoro “{workspace}” ha {used} {unit} di {resource} su un massimo di {quota}.\n\nL’operazione workspaces.usage dell’API dice che cosa succede oltre e come liberarne. L’operatore può impostare una quota maggiore.',
    domainBrokenSubject: 'Alcuni record DNS di {domains} non sono corretti',
    domainBroken:
      'Lo spazio di lavoro “{workspace}” invia da {domains}. Alcuni record DNS che erano corretti non lo sono più.\n\nL’operazione domains.get dell’API dice quale record è errato e ha un link a una pagina con tutti. Le email di un dominio attendono se per 24 ore nulla lo dimostra o nessuna delle sue chiavi è leggibile.',
    domainHealedSubject: 'I record DNS di {domains} sono di nuovo corretti',
    domainHealed:
      'Lo spazio di lavoro “{workspace}” invia da {domains}. Tutti i suoi record DNS sono di nuovo corretti e non c’è nulla da fare.',
  },
  nl: {
    codeSubject: 'Uw inlogcode',
    code: 'Uw code om in te loggen: {code}\n\nDeze is {minutes} minuten geldig en werkt één keer. Als u er niet om hebt gevraagd, negeer deze e-mail en geef de code nooit door.',
    invitationSubject: 'U bent uitgenodigd voor {workspace}',
    invitation:
      '{inviter} nodigt u uit voor de werkruimte “{workspace}”.\n\nLog in op {url} met dit adres en accepteer de uitnodiging met dit token, dat {days} dagen geldig is:\n\n{token}\n\nAls u deze uitnodiging niet verwacht, negeer dan deze e-mail.',
    quotaSubject: '{workspace} heeft een quotum bijna bereikt',
    quota:
      'De werkruimte “{workspace}” heeft {used} van maximaal {quota} {unit} van {resource}.\n\nDe API-operatie workspaces.usage zegt wat er daarboven gebeurt en hoe u ruimte vrijmaakt. De beheerder kan een groter quotum instellen.',
    domainBrokenSubject: 'DNS-records van {domains} zijn niet in orde',
    domainBroken:
      'De werkruimte “{workspace}” verzendt vanaf {domains}. DNS-records die in orde waren, zijn dat niet meer.\n\nDe API-operatie domains.get zegt welk record fout is en heeft een link naar een pagina met alle records. E-mails van een domein wachten als 24 uur lang niets het bewijst of geen van zijn sleutels leesbaar is.',
    domainHealedSubject: 'DNS-records van {domains} zijn weer in orde',
    domainHealed:
      'De werkruimte “{workspace}” verzendt vanaf {domains}. Alle DNS-records zijn weer in orde; er hoeft niets te gebeuren.',
  },
  ja: {
    codeSubject: 'サインインコード',
    code: 'サインインコード：{code}\n\n{minutes}分間有効で、一度だけ使えます。お心当たりがない場合は、このメールを無視し、コードを決して他人に教えないでください。',
    invitationSubject: '{workspace} への招待',
    invitation:
      '{inviter} さんがワークスペース「{workspace}」に招待しています。\n\nこのアドレスで {url} にサインインし、次のトークン（{days}日間有効）で招待を承諾してください：\n\n{token}\n\nお心当たりがない場合は、このメールを無視してください。',
    quotaSubject: '{workspace} は上限に近づいています',
    quota:
      'ワークスペース「{workspace}」は {resource} を {quota} {unit} 中 {used} 使用しています。\n\n上限を超えた場合の動作と空きの作り方は、API の workspaces.usage で確認できます。運用者は上限を上げることができます。',
    domainBrokenSubject: '{domains} の DNS レコードに問題があります',
    domainBroken:
      'ワークスペース「{workspace}」は {domains} から送信しています。正しかった DNS レコードが正しくなくなりました。\n\nどのレコードが誤っているかは API の domains.get で確認でき、すべてのレコードを示すページへのリンクもあります。所有の証明、または読み取れる鍵が24時間ないドメインのメールは保留されます。',
    domainHealedSubject: '{domains} の DNS レコードは正常に戻りました',
    domainHealed:
      'ワークスペース「{workspace}」は {domains} から送信しています。すべての DNS レコードが正常に戻りました。対応は不要です。',
  },
};

const match = languageMatcher(Object.keys(words));

/** The first of the tags that is a language of the mails, else English. */
export function mailLanguage(tags: readonly string[]): string {
  return tags.map(match).find((language) => language !== undefined) ?? 'en';
}

/** The words in a language. */
export function mailWords(language: string): MailWords {
  return words[language] ?? english;
}

/** Fills in a text. Values are one line each and cut, since tenants choose some of them. */
export function filled(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) =>
    String(values[name] ?? '')
      .replace(/\s+/g, ' ')
      .slice(0, 255),
  );
}
