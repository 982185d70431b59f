// Generated from the service's OpenAPI document by "scripts/generate-client"; never edited.
import type * as project from '@songfoundry/schemas';

export interface paths {
    "/api/v1/admin/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the audit log, the newest entry first. Entries are kept for `SF_AUDIT_RETENTION_DAYS`. */
        get: operations["get_admin_audit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/admin/invites": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists invitations, the newest first. */
        get: operations["get_admin_invites"];
        put?: never;
        /** Creates an invitation for one account. */
        post: operations["post_admin_invites"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/admin/invites/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Deletes an invitation. An account that was created with it stays. */
        delete: operations["delete_admin_invites_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/admin/scans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the results of the latest scans. */
        get: operations["get_admin_scans"];
        put?: never;
        /** Scans for SoundFonts now, and returns the results. Only new and changed files are read. */
        post: operations["post_admin_scans"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/admin/storage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the storage that every user uses, in bytes, decoded copies included. */
        get: operations["get_admin_storage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/admin/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the tasks of all users, the newest first. */
        get: operations["get_admin_tasks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/admin/tasks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Cancels a task of any user. A running task ends soon afterwards; a finished task stays
         *     unchanged.
         */
        delete: operations["delete_admin_tasks_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/admin/throttled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists accounts and addresses whose log-ins are throttled, and addresses whose registrations are.
         *     The latest failures and registrations come first.
         */
        get: operations["get_admin_throttled"];
        put?: never;
        post?: never;
        /**
         * Deletes the failed log-ins of an account, of an address, or of an account at an address, which
         *     ends their throttling. For an address alone, also deletes its registrations.
         */
        delete: operations["delete_admin_throttled"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/admin/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists accounts, the newest first. */
        get: operations["get_admin_users"];
        put?: never;
        /** Creates an account. Its password must be changed at the first log-in. */
        post: operations["post_admin_users"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/admin/users/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Describes an account. */
        get: operations["get_admin_users_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Changes the role of an account, enables or disables it, or sets its quota. */
        patch: operations["patch_admin_users_id"];
        trace?: never;
    };
    "/api/v1/admin/users/{id}/reset-password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Gives an account a generated password, which must be changed at the next log-in. Its tokens and
         *     API keys end, and its unused invitations are deleted.
         */
        post: operations["post_admin_users_id_reset_password"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/ai_presets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the caller's prompt templates, the newest first. */
        get: operations["get_ai_presets"];
        put?: never;
        /** Stores a prompt template of the caller. */
        post: operations["post_ai_presets"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/ai_presets/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads a prompt template of the caller. */
        get: operations["get_ai_presets_id"];
        /** Replaces a prompt template of the caller. */
        put: operations["put_ai_presets_id"];
        post?: never;
        /** Deletes a prompt template of the caller. */
        delete: operations["delete_ai_presets_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/ai_presets/{id}/favourite": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Sets whether a prompt template of the caller is a favourite. */
        put: operations["put_ai_presets_id_favourite"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/ai_presets/{id}/render": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Fills in the variables of a prompt template of the caller. Braces in a value have no meaning. */
        post: operations["post_ai_presets_id_render"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/ai_proxy/v1/chat/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sends a request to a language model. Body and answer are those of OpenAI's `chat/completions`.
         *     If `stream` is true, the answer is a stream of events. A failure during the stream is sent as an
         *     event `error` with a problem.
         */
        post: operations["post_ai_proxy_v1_chat_completions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/ai_proxy/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the language models that users may use. */
        get: operations["get_ai_proxy_v1_models"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audio": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the caller's audio files, the newest first. */
        get: operations["get_audio"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audio/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Converts an audio file of the caller: sample rate, loudness, dither, format and tags. The result
         *     is a stereo file among the caller's renders.
         */
        post: operations["post_audio_export"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audio/reference": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Measures a reference: a stored file by its id, or an uploaded file that is not stored. */
        post: operations["post_audio_reference"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audio/upload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stores audio files. Each file is stored unchanged, with a decoded copy and its peaks.
         * @description If all files are refused, the answer is the problem of the first file.
         */
        post: operations["post_audio_upload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audio/uploads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the caller's incomplete uploads. Those that expire last come first. */
        get: operations["get_audio_uploads"];
        put?: never;
        /**
         * Creates a resumable upload (tus 1.0.0, creation). The client may defer the length, as for a
         *     recording that has not ended (creation-defer-length); a later request announces it.
         */
        post: operations["post_audio_uploads"];
        delete?: never;
        /** Returns the supported version, extensions and limits of the tus protocol. */
        options: operations["options_audio_uploads"];
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audio/uploads/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the state of an upload and the id of the resulting file. */
        get: operations["get_audio_uploads_id"];
        put?: never;
        post?: never;
        /** Deletes an upload and its bytes (tus 1.0.0, termination). */
        delete: operations["delete_audio_uploads_id"];
        options?: never;
        /** Returns how many bytes of an upload have been received (tus 1.0.0). */
        head: operations["head_audio_uploads_id"];
        /**
         * Appends bytes to an upload (tus 1.0.0). After the last byte, a task decodes the file. If
         *     decoding fails because the disk is full or the database does not answer, the upload keeps its
         *     bytes and its state is `receiving` again. To retry, send a request without bytes at the offset
         *     of the upload's length.
         */
        patch: operations["patch_audio_uploads_id"];
        trace?: never;
    };
    "/api/v1/audio/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Describes an audio file. */
        get: operations["get_audio_id"];
        put?: never;
        post?: never;
        /**
         * Deletes an audio file, unless a project or an autosave refers to it. Until
         *     `SF_DELETED_KEPT_SECS` have passed, saving a project that refers to the file restores it.
         */
        delete: operations["delete_audio_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audio/{id}/analyze": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Measures an audio file: length, loudness, peaks, spectrum, tempo and key. The result is stored
         *     for later requests.
         */
        post: operations["post_audio_id_analyze"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audio/{id}/file": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Sends an audio file. */
        get: operations["get_audio_id_file"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audio/{id}/peaks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Returns the minimum and maximum samples of each pixel of a waveform.
         * @description The layout is that of BBC audiowaveform, version 2: `dat` is binary, and `json` has the same
         *     values. Peaks of 256 or more frames per pixel are stored when a file is uploaded. Finer ones are
         *     computed from the samples on request.
         */
        get: operations["get_audio_id_peaks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audio/{id}/process": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Makes a processed copy of a piece of an audio file: reversed, stretched, transposed or
         *     normalized. The copy is an audio file of the caller and counts toward the quota. The task's
         *     result is a `ProcessedAudio`. The same operations on the same audio are processed only once.
         */
        post: operations["post_audio_id_process"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audio/{id}/tags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Replaces the tags of an audio file. */
        put: operations["put_audio_id_tags"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the caller's API keys, the newest first. */
        get: operations["get_auth_api_keys"];
        put?: never;
        /**
         * Creates an API key. With it, a script acts as the key's owner, but may not manage accounts,
         *     passwords or keys.
         */
        post: operations["post_auth_api_keys"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/api-keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Deletes one of the caller's API keys. It becomes invalid immediately. */
        delete: operations["delete_auth_api_keys_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/local": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Logs a local caller in as the administrator, without a password. */
        post: operations["post_auth_local"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Logs in with a name and a password (JSON, or the OAuth2 password form). */
        post: operations["post_auth_login"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Logs out. Ends all tokens of this log-in, or with `everywhere=true` of all log-ins of the
         *     account. API keys stay valid.
         */
        post: operations["post_auth_logout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the account of the caller. */
        get: operations["get_auth_me"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Changes the password. All older tokens become invalid; the answer contains a new one. */
        post: operations["post_auth_password"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/password-strength": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Measures the strength of a password. */
        post: operations["post_auth_password_strength"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Issues a new token of the caller's log-in. The old token stays valid until it expires. */
        post: operations["post_auth_refresh"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Creates an account and logs in to it. The setting `SF_REGISTRATION` must allow it. */
        post: operations["post_auth_register"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/files/processes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the running helper processes of this process of the service. Only administrators and
         *     callers on this machine may do this.
         */
        get: operations["get_files_processes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/files/processes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Ends a helper process. Its work counts as cancelled. Only administrators and callers on this
         *     machine may do this.
         */
        delete: operations["delete_files_processes_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/files/save": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Saves the body as a file in the Documents folder of a desktop. No file is overwritten: if the
         *     name exists, the new file gets a number. Only administrators may do this.
         */
        post: operations["post_files_save"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/media/drives": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the media folders (`SF_MEDIA_DIRS`). Only administrators may do this. */
        get: operations["get_media_drives"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/media/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the audio files of a folder by name, with properties from their headers. Only
         *     administrators may do this.
         */
        get: operations["get_media_files"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/media/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Imports audio files from this machine by their paths, without an upload. The limits and the
         *     quota of uploads apply. If all files are refused, the answer is the problem of the first file.
         *     Only administrators may do this.
         */
        post: operations["post_media_import"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/media/tree": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the folders below a folder, down to `depth` levels. Omits hidden folders and links that
         *     lead out of the media folders. Only administrators may do this.
         */
        get: operations["get_media_tree"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/multitrack/freeze": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renders a track, with its effects and its sends to the shared reverb and chorus, to an audio
         *     file of the caller. The task's result is a `Frozen`. It contains a track that plays this file
         *     and sounds like the original, and the field `frozen`, with which the original track plays the
         *     file. If the track is frozen already, its items, instrument and effects are rendered again.
         */
        post: operations["post_multitrack_freeze"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/multitrack/midi/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Writes a project as a MIDI file of format 1. Velocities are clamped to 1..127, and tracks
         *     without notes are left out.
         */
        post: operations["post_multitrack_midi_export"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/multitrack/midi/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Reads a MIDI file, as the body or as the part `file` of a form, into a project. */
        post: operations["post_multitrack_midi_import"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/multitrack/mixdown": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mixes a song down to an audio file of the caller, for use in clips of this song or another. The
         *     task's result is a `Mixdown`.
         */
        post: operations["post_multitrack_mixdown"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/multitrack/stems": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renders each track's part of the mix to a separate file. A part includes the track's fader, its
         *     sends, buses and groups, and the master's fader. It includes the master's effects and limiter
         *     only if `through_master` is set. All files begin at the start of the song and have the same
         *     length. If tracks share only faders and reverbs, the sum of the files is the mix. The task's
         *     result is a `Stems`.
         */
        post: operations["post_multitrack_stems"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/multitrack/stems/{stems_id}/file": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Sends a finished archive of stems. */
        get: operations["get_multitrack_stems_stems_id_file"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/available": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the instruments that the caller can use. The plugins come from the last scan if it is at
         *     most five minutes old. Otherwise, this request scans new and changed plugins. A request with an
         *     API key never scans: it gets the list of the last scan. In `container`, only administrators
         *     scan, and all other users get the list of the last scan.
         */
        get: operations["get_plugins_available"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/dirs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the caller's plugin folders; in `container`, those of the installation. Suggests the usual
         *     folders of the system that exist; they are scanned only after somebody has added them.
         */
        get: operations["get_plugins_dirs"];
        put?: never;
        /**
         * Adds a folder to the caller's plugin folders, of which there may be 32. The folder may also
         *     contain SoundFonts. Only administrators and callers on this machine may add one, because scans
         *     run the code of plugins. The folder must be below `SF_PLUGIN_ROOTS`; a desktop without this
         *     setting allows all folders. A folder in the storage folder is refused. Adding a folder twice
         *     changes nothing. In `container` the folder belongs to the installation: all users have its
         *     plugins.
         */
        post: operations["post_plugins_dirs"];
        /**
         * Removes a folder from the caller's plugin folders; in `container`, from those of the
         *     installation, whoever added it. The folder itself stays on the disk.
         *     Only administrators and callers on this machine may do this.
         */
        delete: operations["delete_plugins_dirs"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/effects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the effects that the caller can use on tracks and the master. The plugins come from the
         *     last scan if it is at most five minutes old. Otherwise, this request scans new and changed
         *     plugins. A request with an API key never scans: it gets the list of the last scan. In
         *     `container`, only administrators scan, and all other users get the list of the last scan.
         */
        get: operations["get_plugins_effects"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/fx-gui/close": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Closes the window of a plugin, and ends its process. Settings that were not read before are
         *     lost.
         */
        post: operations["post_plugins_fx_gui_close"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/fx-gui/{window_id}/frame": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the picture of a window, with its menus and dialogs. */
        get: operations["get_plugins_fx_gui_window_id_frame"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/fx-gui/{window_id}/hide": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Hides a window. The plugin keeps running. */
        post: operations["post_plugins_fx_gui_window_id_hide"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/fx-gui/{window_id}/input": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Passes input of the user to a window. */
        post: operations["post_plugins_fx_gui_window_id_input"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/fx-gui/{window_id}/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Opens a WebSocket to a window. It sends changed parts of the picture as binary messages, and
         *     parameters that the user changes in the window as text; the client sends input and new values.
         *     Pages, which cannot set headers of WebSockets, send their token as the protocol
         *     `bearer.<token>`, beside `songfoundry.v1`, or as `token`.
         */
        get: operations["get_plugins_fx_gui_window_id_live"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/fx-gui/{window_id}/parameters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sets parameters of the plugin of a window, which then shows them. */
        post: operations["post_plugins_fx_gui_window_id_parameters"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/fx-gui/{window_id}/ping": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tells whether a window is open. Like every other request, it keeps the window open. */
        get: operations["get_plugins_fx_gui_window_id_ping"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/fx-gui/{window_id}/show": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Shows a hidden window. */
        post: operations["post_plugins_fx_gui_window_id_show"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/fx-gui/{window_id}/state": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the state of the plugin of a window, with all changes that were made in the window. */
        get: operations["get_plugins_fx_gui_window_id_state"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/midi-render": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renders notes with a VST instrument to a 32-bit float WAV file. The plugin runs in a separate
         *     process. The file begins at the start of the song, because the plugin's latency is removed. If
         *     the plugin crashes, or if the file is silent although there are notes, the render is repeated
         *     once in a new process.
         */
        post: operations["post_plugins_midi_render"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/open-fx-gui": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Opens the own window of a plugin, with the settings of the request. The plugin runs in a
         *     separate process, whose sound nobody hears, until the window is closed or has had no client for
         *     `SF_PLUGIN_WINDOW_IDLE_SECS`. Only the caller can see and use the window.
         */
        post: operations["post_plugins_open_fx_gui"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/parameters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Lists the parameters of a plugin with the plugin's own texts, and its programs. The plugin runs
         *     in a separate process, which ends with the request. Lists are cached until the module changes.
         */
        post: operations["post_plugins_parameters"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/pick-dir": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Opens a folder dialog on the screen of the service's machine, and waits until a folder is
         *     chosen. Uses the program of `SF_DIALOG_BRIDGE` or, if it is not set or fails, the system's
         *     dialog. Does not add the folder to any list. Only local callers may do this; they need no token.
         */
        post: operations["post_plugins_pick_dir"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/preset-file": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sends the settings of a plugin as a preset file, which other hosts can load: a `.vstpreset` file
         *     of a VST3 plugin, or a `.fxp` file of a VST2 plugin. The plugin runs in a separate process, which
         *     ends with the request.
         */
        post: operations["post_plugins_preset_file"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/render": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Renders a project to a file, with the same engine as the page. */
        post: operations["post_plugins_render"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/renders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the finished renders, the newest first. At most 50 are kept for each user. */
        get: operations["get_plugins_renders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/renders/{render_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the part of the render's answer that concerns this file, with its receipt. */
        get: operations["get_plugins_renders_render_id"];
        put?: never;
        post?: never;
        /** Deletes a finished render and its file. */
        delete: operations["delete_plugins_renders_render_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/renders/{render_id}/analyze": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Measures the file of a finished render as `/audio/reference` measures a reference. */
        post: operations["post_plugins_renders_render_id_analyze"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/renders/{render_id}/file": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Sends the file of a finished render. */
        get: operations["get_plugins_renders_render_id_file"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/renders/{render_id}/link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Makes a link with which people without an account can download a render. It ends after
         *     `expires_secs`, when the render is deleted, and when its owner logs out everywhere or is
         *     disabled.
         */
        post: operations["post_plugins_renders_render_id_link"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/scan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Searches the caller's folders for plugins and SoundFonts now. Unchanged modules are only scanned
         *     again if their last scan failed. A module that hangs is stopped after `SF_PLUGIN_SCAN_MAX_SECS`
         *     and is listed in `unclassified`. It can be scanned again with a longer limit: `module` and
         *     `max_secs`. Discards the cached lists of effects of all users. Only administrators and callers
         *     on this machine may scan, because a scan runs the code of plugins (in separate processes).
         */
        post: operations["post_plugins_scan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/soundfont-render": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renders notes with a SoundFont to a 32-bit float WAV file. The samples are identical to those of
         *     a track with these notes in the page, before its fader.
         */
        post: operations["post_plugins_soundfont_render"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/soundfont-sounds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renders notes with a SoundFont as `POST /plugins/soundfont-render` does, and stores the sound.
         *     `GET /plugins/sounds/{sound_id}` sends it, also in parts. A sound that is stored already is not
         *     rendered again. Sounds count against the quota of the sounds of plugins.
         */
        post: operations["post_plugins_soundfont_sounds"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/soundfonts/catalog": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the SoundFonts of the system and those that the caller has uploaded. If several have the
         *     same id, the list has only the one that is played; its field `others` lists the other ones.
         */
        get: operations["get_plugins_soundfonts_catalog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/soundfonts/download/{sf_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Sends a SoundFont. A SoundFont of the caller comes before one of the system, and an SF2 before
         *     an SF3. If the id is unknown or the SoundFont cannot be played, sends the default bank.
         */
        get: operations["get_plugins_soundfonts_download_sf_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/soundfonts/upload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stores a SoundFont that only the caller can use. Refuses a file that cannot be played, and
         *     reports skipped parts. An earlier SoundFont with the same id and format is replaced; sending
         *     the same file again changes nothing. The file counts towards the caller's quota for audio.
         */
        post: operations["post_plugins_soundfonts_upload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/soundfonts/{sf_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Deletes the caller's SoundFonts with this id, both SF2 and SF3. Answers 403 if only the system
         *     has such a SoundFont. SoundFonts of other users count as missing.
         */
        delete: operations["delete_plugins_soundfonts_sf_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/sounds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Lets the plugin instruments of a song play their notes, and its plugin effects process their
         *     input. Sounds that earlier requests or exports have rendered are used again unless something
         *     that determines them has changed. Exports have the same samples.
         */
        post: operations["post_plugins_sounds"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/sounds/{sound_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Sends a sound that a plugin has rendered, as a 32-bit float WAV file that begins at the start of
         *     the song. The service deletes sounds that have not been used for a long time; render such a
         *     sound again.
         */
        get: operations["get_plugins_sounds_sound_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/vst-fx-process": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Always answers 404: use the WebSocket `/plugins/ws/fx-realtime` instead. */
        get: operations["get_plugins_vst_fx_process"];
        put?: never;
        /** Always answers 404: use the WebSocket `/plugins/ws/fx-realtime` instead. */
        post: operations["post_plugins_vst_fx_process"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/vst-render": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Always answers 404: use `/plugins/midi-render` instead. */
        get: operations["get_plugins_vst_render"];
        put?: never;
        /** Always answers 404: use `/plugins/midi-render` instead. */
        post: operations["post_plugins_vst_render"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/ws/fx-realtime": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Opens a WebSocket that processes blocks of audio with a chain of effects in real time. A local
         *     caller needs no token. Others send their token as the protocol `bearer.<token>`, beside
         *     `songfoundry.v1`, or as `token`. Without a valid one, the WebSocket is closed with the code 4401.
         */
        get: operations["get_plugins_ws_fx_realtime"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/presets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists presets: first the caller's own, newest first, then the factory presets. */
        get: operations["get_presets"];
        put?: never;
        /** Stores a preset of the caller. */
        post: operations["post_presets"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/presets/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads a preset of the caller, or a factory preset. */
        get: operations["get_presets_id"];
        /** Replaces a preset of the caller. */
        put: operations["put_presets_id"];
        post?: never;
        /** Deletes a preset of the caller. */
        delete: operations["delete_presets_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the caller's projects. The project that was saved last comes first. */
        get: operations["get_projects"];
        put?: never;
        /** Stores a new project. A project without a `project_id` gets a new id. */
        post: operations["post_projects"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stores the project of a bundle with its audio. Audio that the caller already has is not stored
         *     again. If the import fails, nothing is stored.
         */
        post: operations["post_projects_import"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/import/dawproject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stores the project of a DAWproject file (Bitwig Studio, Cubase, Studio One and others) with its
         *     audio.
         * @description Tracks, groups, effect channels, sends, notes, MIDI controls, audio, tempo, time signatures,
         *     markers and the automation of volume, pan and sends are imported. Loops are written out.
         *     Plugins, stretched audio, scenes and other data that a project cannot have are left out or
         *     simplified; `warnings` lists them. The project has a new id. Audio that the caller already has
         *     is not stored again. If the import fails, nothing is stored.
         */
        post: operations["post_projects_import_dawproject"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/temp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads the autosave of a song, or the one that was written last. */
        get: operations["get_projects_temp"];
        /**
         * Replaces the autosave of a song. If the user already has 20 autosaves, the oldest one is
         *     deleted.
         */
        put: operations["put_projects_temp"];
        post?: never;
        /** Discards the autosave of a song, or the one that was written last. */
        delete: operations["delete_projects_temp"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/temp/raw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Downloads the stored JSON of the autosave of a song, or of the autosave that was written last.
         *     The text is unchanged, even if it can no longer be read as a project.
         */
        get: operations["get_projects_temp_raw"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/temp/revision": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Returns the time and the song of an autosave, and the window that wrote it. Without
         *     `project_id`, this is the autosave that was written last. All values are null if there is none.
         */
        get: operations["get_projects_temp_revision"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/temp/songs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the caller's autosaves, newest first. */
        get: operations["get_projects_temp_songs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/upgrade": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Upgrades a project to the current schema version. Neither stores nor validates it. */
        post: operations["post_projects_upgrade"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads a project, upgraded to the current schema version. */
        get: operations["get_projects_id"];
        /** Saves a project. `If-Match` must have the revision from which the save started. */
        put: operations["put_projects_id"];
        post?: never;
        /** Deletes a project with all its revisions. */
        delete: operations["delete_projects_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/bundle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Sends a project and the audio files that it uses as one zip archive. */
        get: operations["get_projects_id_bundle"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/dawproject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Sends a project and the audio files that it uses as a DAWproject file, which Bitwig Studio,
         *     Cubase, Studio One and others import.
         * @description The file has tracks, groups, buses, sends, notes, MIDI controls, audio as it was uploaded, and
         *     fades. It also has tempo, time signatures, markers, and the automation of volume, pan and sends.
         *     Effects, plugins, sections and the curvature of automation are left out; the comment in
         *     `metadata.xml` lists those that the project has.
         */
        get: operations["get_projects_id_dawproject"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/duplicate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Copies a project under a new id. */
        post: operations["post_projects_id_duplicate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/raw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads the stored JSON without changes, even if it can no longer be read as a project. */
        get: operations["get_projects_id_raw"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/revisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the kept revisions, newest first. */
        get: operations["get_projects_id_revisions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/revisions/{n}/raw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Downloads the stored JSON of a kept revision without changes, even if it can no longer be read. */
        get: operations["get_projects_id_revisions_n_raw"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/revisions/{n}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stores an older revision again as the newest one. The revisions between the two are kept. */
        post: operations["post_projects_id_revisions_n_restore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/shared/render": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Sends the file of a render to anybody who has a link to it. */
        get: operations["get_shared_render"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/system/capabilities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the properties and capabilities of this installation. */
        get: operations["get_system_capabilities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/system/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads the last lines of the log of this process. The process keeps at most 1000 lines in memory. */
        get: operations["get_system_log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/system/runtime": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Describes the environment of this process. */
        get: operations["get_system_runtime"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/system/version": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the versions of this installation. */
        get: operations["get_system_version"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the caller's tasks, newest first. */
        get: operations["get_tasks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads a task. */
        get: operations["get_tasks_id"];
        put?: never;
        post?: never;
        /**
         * Cancels a task, which then ends soon. A finished task stays unchanged; with `remove=true` it is
         *     removed.
         */
        delete: operations["delete_tasks_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follows a task. Sends an event `task` with the task's JSON now and after every change, until the
         *     task has ended.
         */
        get: operations["get_tasks_id_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/user_config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads the caller's settings. */
        get: operations["get_user_config"];
        /** Replaces the caller's settings: settings that the body omits get their defaults. */
        put: operations["put_user_config"];
        post?: never;
        /** Resets all of the caller's settings to their defaults. */
        delete: operations["delete_user_config"];
        options?: never;
        head?: never;
        /**
         * Changes some of the caller's settings; null resets a setting to its default. Applies all changes
         *     or none.
         */
        patch: operations["patch_user_config"];
        trace?: never;
    };
    "/api/v1/user_config/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists all settings, with their accepted values and defaults. */
        get: operations["get_user_config_settings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Project: project.Project;
        "Project.Note": project.Note;
        "Project.Control": project.Control;
        "Project.TempoPoint": project.TempoPoint;
        "Project.Settings": project.Settings;
        /** @description An account as administrators see it. */
        Account: {
            /** @description Id, a UUID. */
            id: string;
            /** @description Name to log in with. */
            username: string;
            /** @description Role of the user. */
            role: components["schemas"]["Role"];
            /** @description Whether the account is disabled. */
            disabled: boolean;
            /** @description Whether the user must change the password before any other operation. */
            must_change_password: boolean;
            /** @description Whether the account has a password; in `standalone`, the administrator has none at first. */
            has_password: boolean;
            /** @description When the account was created, RFC 3339. */
            created_at: string;
            /** @description Time of the last log-in with the password, RFC 3339; null if never. */
            last_login_at: string | null;
            /**
             * Format: int64
             * @description Audio quota in bytes.
             */
            audio_quota_bytes: number;
            /** @description Whether the quota was set for this user; otherwise `SF_AUDIO_QUOTA_BYTES` applies. */
            has_own_quota: boolean;
        };
        /** @description An API key, without the key itself. */
        ApiKey: {
            /** @description Id, a UUID. */
            id: string;
            /** @description Name that the owner chose. */
            name: string;
            /** @description First characters of the key. */
            hint: string;
            /** @description When the key was created, RFC 3339. */
            created_at: string;
            /** @description When the key was last used, to the minute, RFC 3339; null if never. */
            last_used_at: string | null;
        };
        /** @description The caller's API keys. */
        ApiKeyList: {
            /** @description The keys, the newest first. */
            items: components["schemas"]["ApiKey"][];
            /** @description Cursor of the next page; null on the last page. */
            next_cursor: string | null;
            /**
             * Format: int64
             * @description Maximum number of keys of an account.
             */
            most: number;
        };
        /** @description Measurements of an audio file. */
        AudioAnalysis: {
            /**
             * Format: double
             * @description Length in seconds.
             */
            duration_secs: number;
            /**
             * Format: int32
             * @description Sample rate in hertz.
             */
            sample_rate_hz: number;
            /**
             * Format: double
             * @description Gated loudness of the whole file in LUFS (ITU-R BS.1770, EBU R 128); null for silence and
             *     for files shorter than 400 ms. A mono file is measured as if both loudspeakers played it,
             *     which is 3 LU more than on meters that measure it as one channel.
             */
            lufs: number | null;
            /**
             * Format: double
             * @description Loudness range in LU (EBU Tech 3342).
             */
            loudness_range_lu: number;
            /**
             * Format: double
             * @description Highest momentary loudness (of any 400 ms) in LUFS; of the whole file if it is shorter. Null
             *     for silence and for files shorter than 10 ms. Mono files are measured as for `lufs`.
             */
            max_momentary_lufs: number | null;
            /**
             * Format: double
             * @description Highest short-term loudness (of any 3 s) in LUFS; of the whole file if it is shorter. Null
             *     for silence and for files shorter than 10 ms. Mono files are measured as for `lufs`.
             */
            max_short_term_lufs: number | null;
            /**
             * Format: double
             * @description Highest true peak of any channel in dBTP; null for silence.
             */
            true_peak_db: number | null;
            /**
             * Format: double
             * @description Highest magnitude of any sample in dBFS; null for silence.
             */
            sample_peak_db: number | null;
            /**
             * Format: double
             * @description Mean frequency of the spectrum weighted by amplitude, in hertz; null for silence.
             */
            spectral_centroid_hz: number | null;
            tempo: components["schemas"]["TempoEstimate"] | null;
            key: components["schemas"]["KeyEstimate"] | null;
            /** @description Levels in third-octave bands (IEC 61260-1) from 25 Hz to 20 kHz, up to half the sample rate. */
            third_octaves: components["schemas"]["BandLevel"][];
        };
        /** @description The result of a conversion. */
        AudioExport: components["schemas"]["RenderedFile"] & {
            /** @description Warnings, as sentences. */
            warnings: string[];
            /** @description Measurements and hashes of the file. */
            receipt: components["schemas"]["AudioExportReceipt"];
        };
        /** @description Measurements and hashes of a converted file. */
        AudioExportReceipt: {
            /**
             * Format: double
             * @description Highest absolute value of any sample; 1 is full scale.
             */
            peak: number;
            /**
             * Format: int64
             * @description Number of samples beyond full scale. In files of integers they were clipped to it.
             */
            clipped_samples: number;
            /**
             * Format: double
             * @description Loudness range in LU (EBU Tech 3342).
             */
            loudness_range_lu: number;
            /**
             * Format: double
             * @description Highest loudness of any 400 ms in LUFS; null for silence.
             */
            max_momentary_lufs: number | null;
            /**
             * Format: double
             * @description Highest loudness of any 3 seconds in LUFS; null for silence.
             */
            max_short_term_lufs: number | null;
            /** @description Loudness and peaks over time. */
            curve: components["schemas"]["LoudnessCurve"];
            /** @description SHA-256 of the file that was converted, in hexadecimal. */
            source_sha256: string;
            /**
             * @description SHA-256 in hexadecimal of the audio data of a WAV file, without its header, or of the
             *     decoded samples of a file in another format.
             */
            pcm_sha256: string;
            /**
             * Format: int64
             * @description Number of frames in the file.
             */
            frames: number;
            normalization: components["schemas"]["NormalizationReport"] | null;
            channels: components["schemas"]["ChannelReport"] | null;
        };
        /** @description The file to convert, and the options of the export. */
        AudioExportRequest: components["schemas"]["FileOptions"] & components["schemas"]["SoundOptions"] & {
            /** @description Id of an audio file of the caller. */
            file_id: string;
        };
        /** @description An audio file of a user. */
        AudioFile: {
            /** @description Id, a UUID. A project's audio items refer to it in `server_file_id`. */
            id: string;
            /** @description Name of the file when it was first uploaded. */
            name: string;
            /** @description SHA-256 of the file, in hexadecimal digits. */
            sha256: string;
            /** @description Media type of the file. */
            media_type: string;
            /** @description Container format. */
            container: string;
            /** @description Codec of the samples. */
            codec: string;
            /**
             * Format: int64
             * @description Size of the file in bytes.
             */
            size_bytes: number;
            /**
             * Format: int64
             * @description Bytes that count toward the quota: the file, its decoded copies and its peaks.
             */
            stored_bytes: number;
            /**
             * Format: int32
             * @description Sample rate in hertz.
             */
            sample_rate_hz: number;
            /**
             * Format: int32
             * @description Number of channels of the file.
             */
            source_channels: number;
            /**
             * Format: int32
             * @description Number of channels of the decoded copy: 1 or 2. Files with more channels are mixed to two
             *     after ITU-R BS.775.
             */
            channels: number;
            /**
             * Format: int64
             * @description Length in frames, at `sample_rate_hz`.
             */
            frames: number;
            /**
             * Format: double
             * @description Length in seconds.
             */
            duration_secs: number;
            /** @description Faults of the file that did not prevent decoding, as sentences. */
            warnings: string[];
            /** @description Tags, in alphabetical order. */
            tags: string[];
            /** @description When the file was uploaded, RFC 3339. */
            created_at: string;
            /** @description Path to download the file. */
            file_url: string;
        };
        /**
         * @description The level that a normalization measures.
         * @enum {string}
         */
        AudioMeasure: "peak" | "loudness";
        /** @description The level that a copy gets by a constant gain. */
        AudioNormalize: {
            /** @description The level that is measured. */
            measure: components["schemas"]["AudioMeasure"];
            /**
             * Format: double
             * @description Target level, -60 to 0: dBFS for `peak`, LUFS for `loudness`.
             */
            level_db: number;
        };
        /** @description The operations that make a processed copy of a piece of audio, in the order of the fields. */
        AudioRecipe: {
            /**
             * Format: int64
             * @description First frame of the piece; 0 by default.
             */
            start_frame?: number;
            /**
             * Format: int64
             * @description Length of the piece in frames of the file; by default to the end of the file.
             */
            length_frames?: number | null;
            /** @description Whether the piece is played backwards. */
            reverse?: boolean;
            /**
             * Format: double
             * @description Length of the copy divided by the length of the piece, 0.25 to 4; 1 by default. The pitch
             *     stays.
             * @default 1
             */
            stretch: number;
            /**
             * Format: double
             * @description Change of pitch in cents, -2400 to 2400; 0 by default. The length stays, exactly to the frame.
             *     The pitch has steps of 1/512, divided by the product of `stretch` and the frequency ratio:
             *     less than 4 cents if both are 1, and 14 cents at the limit of 0.25.
             * @default 0
             */
            pitch_cents: number;
            normalize?: components["schemas"]["AudioNormalize"] | null;
        };
        /** @description An autosave without its project. */
        Autosave: {
            /** @description Id of the song. A song that was never saved is not in the list of projects. */
            project_id: string;
            /** @description Title of the song; empty if it has none. */
            name: string;
            /** @description Id of the window that wrote the autosave. */
            client_id: string;
            /** @description Time of writing, RFC 3339. */
            updated_at: string;
            /**
             * Format: int64
             * @description Size of the stored JSON in bytes.
             */
            size_bytes: number;
        };
        /** @description The autosaves of a user. */
        AutosaveList: {
            /** @description The autosaves, newest first: at most 20. */
            items: components["schemas"]["Autosave"][];
        };
        /** @description The instruments that the caller can use. */
        Available: {
            /**
             * @description VST instruments in the caller's plugin folders, sorted by name. Only administrators and
             *     callers on this machine have such folders; in `container`, all users have those of the
             *     installation.
             */
            vst_instruments: components["schemas"]["VstPlugin"][];
            /** @description SoundFonts of the system and of the caller, without their presets. */
            soundfonts: components["schemas"]["SoundFontSummary"][];
        };
        /** @description Level of a frequency band. */
        BandLevel: {
            /**
             * Format: double
             * @description Exact centre frequency of the band in hertz.
             */
            center_hz: number;
            /**
             * Format: double
             * @description Level in dBFS, where a sine of full scale has 0 dBFS; null for silence.
             */
            level_db: number | null;
        };
        /**
         * @description Sample format of an exported file.
         * @enum {string}
         */
        BitDepth: "pcm8" | "pcm16" | "pcm24" | "float32";
        /** @description An effect of the engine. */
        BuiltinEffect: {
            /** @description `name` of the effect in projects. */
            id: string;
            /** @description Display name. */
            name: string;
            /** @enum {string} */
            group: "dynamics" | "tone" | "space_and_time" | "modulation" | "utility";
            /** @description Whether the effect has a side-chain input. */
            has_side_chain: boolean;
            /**
             * Format: double
             * @description Longest impulse response that the effect accepts, in seconds; null if it uses none.
             */
            impulse_max_secs: number | null;
            /** @description Parameters of the effect, in display order. */
            parameters: components["schemas"]["EffectParameter"][];
        };
        /** @description Properties and capabilities of this installation. */
        Capabilities: {
            /** @description Version of the service. */
            version: string;
            /** @description Kind of deployment. */
            environment: components["schemas"]["Environment"];
            /** @description Renderer of plugins; always `bridge`. */
            render_engine: string;
            /** @description Whether SoundFont tracks are rendered by the server or by the client. */
            instrument_sound: components["schemas"]["InstrumentSound"];
            /** @description Whether this service can render notes with a SoundFont. */
            soundfont_render: boolean;
            /** @description Id of the SoundFont that replaces missing ones; null if none is installed. */
            default_soundfont_id: string | null;
            /** @description Plugin formats that the helper can host; empty if there is no helper. */
            plugin_formats: components["schemas"]["VstFormat"][];
            /** @description Formats of audio files that can be uploaded. */
            audio_formats: string[];
            /** @description Options for exported audio. */
            export: components["schemas"]["ExportCapabilities"];
            /** @description Whether `/ai_proxy` gives access to a language model. */
            ai: boolean;
            /** @description Limits on requests and stored data, and intervals of the web page. */
            limits: components["schemas"]["Limits"];
            /** @description Which people may register an account. */
            registration: components["schemas"]["Registration"];
            /**
             * @description Whether the web page was loaded in a secure context, which is the case through loopback or
             *     HTTPS. Without a secure context, it cannot play sound.
             */
            secure: boolean;
        };
        /** @description The SoundFonts, listed once with their presets and once without details. */
        CatalogAnswer: {
            /** @description All banks with their presets. */
            soundfonts: components["schemas"]["SoundFont"][];
            /** @description All banks without details. */
            condensed: components["schemas"]["CondensedSoundFont"][];
            /** @description Time when the folders were last searched, RFC 3339. */
            scanned_at: string;
        };
        /** @description How a mix sounds in mono. */
        ChannelReport: {
            /**
             * Format: double
             * @description Correlation of the channels, -1 to 1: 1 for equal channels, 0 for independent ones, -1 for
             *     opposite ones; null if a channel is silent.
             */
            correlation: number | null;
            /**
             * Format: double
             * @description Level of the side signal above the mid signal, in decibels; null if one of them is silent.
             *     These signals are half the difference and half the sum of the channels.
             */
            side_level_db: number | null;
            /**
             * Format: double
             * @description Loss of level in the sum of the channels, in decibels: 0 for equal channels, 3 for
             *     independent ones; null if the sum is silent.
             */
            mono_loss_db: number | null;
            /** @description The octaves with sound, from low to high. */
            octaves: components["schemas"]["OctaveReport"][];
        };
        /** @description The window to close. */
        CloseWindowRequest: {
            /** @description Id of the window. */
            window_id: string;
        };
        /** @description A SoundFont without details. */
        CondensedSoundFont: {
            /** @description Id of the bank. */
            soundfont_id: string;
            /** @description Name of the bank. */
            name: string;
            /** @description Number of presets in the bank. */
            preset_count: number;
        };
        /** @description The name and password of an account. */
        Credentials: {
            /** @description Name of the account; case does not matter. */
            username: string;
            /** @description Password of the account, as plain text. */
            password: string;
        };
        /** @description Result of an import of a DAWproject file. */
        DawprojectImported: {
            /** @description Id of the new project. */
            project_id: string;
            /**
             * Format: int64
             * @description Revision of the project.
             */
            revision: number;
            /** @description Time of the import, RFC 3339. */
            updated_at: string;
            /** @description Number of audio files that are new for the caller. */
            audio_added: number;
            /** @description Number of audio files that the caller already had. */
            audio_known: number;
            /** @description Warnings, as sentences, about data of the file that was left out or changed. */
            warnings: string[];
        };
        /** @description A media folder. */
        Drive: {
            /** @description Absolute path of the folder. */
            path: string;
            /** @description Name of the folder: the last part of its path. */
            name: string;
            /** @description Whether the folder exists and can be reached now. */
            available: boolean;
            /**
             * Format: int64
             * @description Size of the folder's disk in bytes; null if the system does not report it.
             */
            total_bytes: number | null;
            /**
             * Format: int64
             * @description Free space on the folder's disk in bytes; null if the system does not report it.
             */
            free_bytes: number | null;
        };
        /** @description List of the media folders. */
        DriveList: {
            /** @description The folders, in the order of the settings. */
            items: components["schemas"]["Drive"][];
            /** @description Cursor of the next page; null on the last page. */
            next_cursor: string | null;
        };
        /** @description A parameter of an effect. */
        EffectParameter: {
            /** @description Name of the parameter in an effect's `params`. */
            id: string;
            /** @description Display name. */
            name: string;
            /** @enum {string} */
            unit: "number" | "decibels" | "hertz" | "milliseconds" | "seconds" | "share" | "ratio" | "beats" | "degrees" | "octaves" | "bits";
            /**
             * Format: double
             * @description Lowest value.
             */
            min: number;
            /**
             * Format: double
             * @description Highest value.
             */
            max: number;
            /**
             * Format: double
             * @description Default value.
             */
            default: number;
            /** @description How a control divides the range of values. */
            scale: components["schemas"]["ParameterScale"];
            /** @description Names of the values of a `choice`, counted from 0; empty for other scales. */
            choices: string[];
        };
        /** @description The effects that the caller can use. */
        EffectsAnswer: {
            /** @description Effects of the engine, in display order. */
            effects: components["schemas"]["BuiltinEffect"][];
            /**
             * @description VST effects in the caller's plugin folders, sorted by name. Only administrators and callers
             *     on this machine have such folders; in `container`, all users have those of the installation.
             */
            vst_effects: components["schemas"]["VstPlugin"][];
            /** @description Time and validity of the scan that found the plugins. */
            cache: components["schemas"]["ScanCache"];
        };
        /** @description An entry of the log. */
        Entry: {
            /** @description Id, a UUID. */
            id: string;
            /** @description When the action happened, RFC 3339. */
            at: string;
            /** @description Name of the action, such as `log_in_failed`. */
            action: string;
            /** @description Id of the account that acted; null without a log-in. */
            actor_id: string | null;
            /**
             * @description Name of the account that acted, at the time of the action; `nobody` or `command line`
             *     without an account.
             */
            actor: string;
            /** @description Authentication of the actor: `local`, `token`, `api_key`, `command_line` or `nobody`. */
            via: components["schemas"]["Via"];
            /** @description Address of the client; null on the command line. */
            address: string | null;
            /** @description The target of the action, such as the name of an account, a project or a file. */
            target: string;
            /** @description Details; may be empty. */
            detail: string;
        };
        /**
         * @description The kind of deployment.
         * @enum {string}
         */
        Environment: "standalone" | "container";
        /** @description Options for exported audio. */
        ExportCapabilities: {
            /** @description File formats of exported audio. */
            formats: string[];
            /** @description Sample formats of WAV files. */
            bit_depths: components["schemas"]["BitDepth"][];
            /** @description Sample rates of WAV files in hertz. */
            sample_rates_hz: number[];
            /** @description Capabilities of each file format. */
            by_format: components["schemas"]["FormatCapabilities"][];
        };
        /** @description The project to export. */
        ExportRequest: {
            /** @description Id of a stored project. Give either this or `project`. */
            project_id?: string | null;
            project?: components["schemas"]["Project"] | null;
        };
        /** @description Whether a template is a favourite. */
        Favourite: {
            /** @description Whether the template is a favourite. */
            favourite: boolean;
        };
        /** @description An invalid value in a document. */
        FieldError: {
            /** @description JSON pointer (RFC 6901) to the offending value. */
            pointer: string;
            /** @description Reason why the value is not valid. */
            detail: string;
        };
        /** @description Format, quality and tags of a file. */
        FileOptions: {
            format?: components["schemas"]["Format"] | null;
            /** @enum {integer|null} */
            bit_rate_kbps?: 64 | 96 | 128 | 160 | 192 | 224 | 256 | 320 | null;
            /**
             * Format: int32
             * @description Quality of an Ogg Vorbis or MP3 file with a variable bit rate; 10 is the best. The default
             *     of Ogg Vorbis is 6.
             */
            quality?: number | null;
            metadata?: components["schemas"]["RenderMetadata"] | null;
        };
        /** @description A rendered file with its receipt. */
        FileWithReceipt: components["schemas"]["RenderedFile"] & {
            /**
             * @description Warnings about the file, as sentences: missing SoundFonts and presets, damaged samples,
             *     and whether it is silent.
             */
            warnings: string[];
            /** @description Measurements, settings and hash of the render. */
            receipt: components["schemas"]["Receipt"];
        };
        /** @description A folder below a media folder, with its subfolders. */
        Folder: {
            /** @description Absolute path of the folder. */
            path: string;
            /** @description Name of the folder. */
            name: string;
            /**
             * @description Folders in this folder, sorted by name. Null if they were not read, and for a link to a
             *     folder above; a request with this folder's path lists them.
             */
            folders: components["schemas"]["Folder"][] | null;
        };
        /**
         * @description File format of rendered audio.
         * @enum {string}
         */
        Format: "wav" | "flac" | "mp3" | "ogg" | "opus";
        /** @description Capabilities of a format of exported audio. */
        FormatCapabilities: {
            /** @description Name of the format in requests, which is also the extension of its files. */
            format: components["schemas"]["Format"];
            /** @description Name of the format for people. */
            name: string;
            /** @description Purpose of the format, as a part of a sentence. */
            purpose: string;
            /** @description Whether a file can have a cover picture. */
            has_cover: boolean;
            /** @description Sample formats; empty for lossy formats. */
            bit_depths: components["schemas"]["BitDepth"][];
            /** @description Sample rates in hertz. */
            sample_rates_hz: number[];
            /** @description Bit rates in kilobits per second; empty if the format has none. */
            bit_rates_kbps: number[];
            /** @description Whether the format has a variable quality from 0 to 10. */
            has_quality: boolean;
            /**
             * Format: int32
             * @description Default bit rate in kilobits per second; null if the format has none.
             */
            bit_rate_default_kbps: number | null;
            /**
             * Format: int32
             * @description Default quality; null if the format has none, or has a bit rate by default.
             */
            quality_default: number | null;
        };
        /** @description The track to freeze, and the options of the export. */
        FreezeRequest: components["schemas"]["RenderOptions"] & {
            /** @description Id of the track. */
            track_id: string;
            /** @description Point in the signal path: `before_fader`, the default, or `after_fader`. */
            stage?: components["schemas"]["Stage"];
        };
        /** @description A helper process. */
        Helper: {
            /**
             * Format: int64
             * @description Id of the helper within this process. It is never reused.
             */
            id: number;
            /**
             * @description Kind of helper: `decoder`, `encoder`, `plugin scan`, `plugin`, `plugin window` or `folder
             *     dialog`.
             */
            kind: string;
            /**
             * Format: int32
             * @description Process id.
             */
            pid: number;
            /** @description When the helper was started, RFC 3339. */
            started_at: string;
            /** @description Whether the helper was requested to end. */
            ending: boolean;
        };
        /** @description Helper processes. */
        HelperList: {
            /** @description The helpers of this process that run now, the oldest first. */
            items: components["schemas"]["Helper"][];
        };
        /** @description A project made from a MIDI file. The service does not store it. */
        ImportAnswer: {
            /** @description The project made from the file. */
            project: components["schemas"]["Project"];
            /** @description Warnings, as sentences, about data of the file that could not be read or represented. */
            warnings: string[];
        };
        /** @description Result of an import. */
        Imported: {
            /** @description Id of the project: the id in the bundle, or a new one if a project with that id exists. */
            project_id: string;
            /**
             * Format: int64
             * @description Revision of the project.
             */
            revision: number;
            /** @description Time of the import, RFC 3339. */
            updated_at: string;
            /** @description Number of audio files that are new for the caller. */
            audio_added: number;
            /** @description Number of audio files that the caller already had. */
            audio_known: number;
            /** @description Ids of audio files that the project uses but the bundle does not contain. */
            audio_missing: string[];
        };
        /** @description A file that was imported. */
        ImportedFile: {
            /** @description Path of the original file. */
            path: string;
            /**
             * @description Whether the caller already had a file with the same bytes. If so, `file` is that earlier
             *     file.
             */
            known: boolean;
            /** @description The imported audio file. */
            file: components["schemas"]["AudioFile"];
        };
        /** @description Result of an import. */
        ImportedMedia: {
            /** @description The imported files. */
            files: components["schemas"]["ImportedFile"][];
            /** @description The refused files, each with the reason. */
            refused: components["schemas"]["RefusedMedia"][];
        };
        /**
         * @description The program that renders the sound of SoundFont instruments for playback.
         * @enum {string}
         */
        InstrumentSound: "server" | "client";
        /** @description An invitation, without its code. */
        Invite: {
            /** @description Id, a UUID. */
            id: string;
            /** @description Whether the invitation can be used, was used or has expired. */
            state: components["schemas"]["InviteState"];
            /** @description Role of the created account. */
            role: components["schemas"]["Role"];
            /** @description A note for administrators; may be empty. */
            note: string;
            /** @description Name of the administrator who created the invitation. */
            created_by: string;
            /** @description When the invitation was created, RFC 3339. */
            created_at: string;
            /** @description Expiry time, RFC 3339. */
            expires_at: string;
            /** @description When the invitation was used, RFC 3339; null if it was not. */
            used_at: string | null;
            /** @description Name of the account that was created with the invitation; null if it was not used. */
            used_by: string | null;
        };
        /**
         * @description State of an invitation.
         * @enum {string}
         */
        InviteState: "open" | "used" | "expired";
        /**
         * @description A key, estimated by correlation with the profiles of Krumhansl and Kessler. A relative or
         *     neighbouring key correlates nearly as well.
         */
        KeyEstimate: {
            /** @description Tonic, such as `C` or `F#`. */
            tonic: string;
            /** @description `major` or `minor`. */
            mode: string;
            /**
             * Format: double
             * @description Correlation with the profile of the key, 0.5 to 1.
             */
            correlation: number;
        };
        /** @description A part of a project that is not in the render. */
        LeftOutOfRender: {
            /** @description JSON pointer to the part in the project document. */
            pointer: string;
            /** @description Reason why the part is left out. */
            reason: string;
        };
        /** @description The number of deleted counters. */
        Lifted: {
            /**
             * Format: int64
             * @description Number of deleted counters: one for the failed log-ins of each account at each address, and
             *     one for the registrations from an address.
             */
            lifted: number;
        };
        /** @description Gain reduction of the mix limiter, measured at the project's sample rate. */
        LimiterReport: {
            /**
             * Format: double
             * @description Largest reduction in decibels; 0 if the mix stayed below the ceiling of -3 dBFS.
             */
            largest_reduction_db: number;
            /**
             * Format: double
             * @description Total time in the song during which the reduction exceeded 0.1 dB, in seconds.
             */
            reduced_secs: number;
        };
        /** @description Limits on requests and stored data, and intervals of the web page. */
        Limits: {
            /**
             * Format: int64
             * @description Maximum size of an uploaded audio file in bytes.
             */
            upload_max_bytes: number;
            /**
             * Format: int64
             * @description Maximum size of an uploaded SoundFont in bytes.
             */
            soundfont_max_bytes: number;
            /**
             * Format: int64
             * @description Maximum size of a project document in bytes.
             */
            project_max_bytes: number;
            /**
             * Format: int64
             * @description Maximum size of a bundle of a project and its audio in bytes.
             */
            bundle_max_bytes: number;
            /**
             * Format: int64
             * @description Maximum size of a MIDI file in bytes.
             */
            midi_max_bytes: number;
            /**
             * Format: int64
             * @description Maximum size of the body of every other request in bytes.
             */
            body_max_bytes: number;
            /**
             * Format: int64
             * @description Maximum length of the tail of a render in seconds.
             */
            tail_max_secs: number;
            /**
             * Format: int64
             * @description Maximum length of an audio file in seconds.
             */
            audio_max_secs: number;
            /**
             * Format: int64
             * @description Maximum number of channels of an audio file.
             */
            audio_max_channels: number;
            /**
             * Format: int64
             * @description Quota of one user in bytes for audio (including decoded copies) and SoundFonts. An
             *     administrator can set a different quota for a user.
             */
            audio_quota_bytes: number;
            /**
             * Format: int64
             * @description Quota of one user in bytes for the kept revisions of their projects and for tasks.
             */
            projects_quota_bytes: number;
            /**
             * Format: int64
             * @description Quota of one user in bytes for finished renders. The oldest renders are deleted first.
             */
            renders_quota_bytes: number;
            /**
             * Format: int64
             * @description Maximum number of waiting and running tasks of one user.
             */
            tasks_unfinished: number;
            /**
             * Format: int64
             * @description Maximum number of tasks of one user that run in a process at the same time.
             */
            tasks_running: number;
            /**
             * Format: int64
             * @description Maximum number of requests of one user per minute; 0 means no limit.
             */
            requests_per_minute: number;
            /**
             * Format: int32
             * @description Number of revisions of a project that are kept.
             */
            revisions_kept: number;
            /**
             * Format: int64
             * @description Interval of the web page's autosaves, in seconds.
             */
            autosave_secs: number;
            /**
             * Format: int64
             * @description Interval at which the web page checks whether another window has saved, in seconds.
             */
            revision_poll_secs: number;
        };
        /** @description A request for a link. */
        LinkRequest: {
            /**
             * Format: int32
             * @description Time until the link expires, in seconds; a week by default.
             */
            expires_secs?: number | null;
        };
        /** @description The last lines of the log. */
        LogLines: {
            /**
             * @description The lines, the newest last. Each has `timestamp`, `level`, `message` and other fields. The
             *     lines contain no tokens, keys or passwords.
             */
            lines: Record<string, unknown>[];
        };
        /** @description Loudness and peaks over time: 300 to 601 points for a file of more than a minute. */
        LoudnessCurve: {
            /**
             * Format: double
             * @description Interval of the points in seconds. The first interval begins at the start of the file.
             */
            interval_secs: number;
            /** @description Highest short-term loudness (of 3 seconds) in each interval in LUFS; null for silence. */
            short_term_lufs: (number | null)[];
            /**
             * @description Highest true peak in each interval in dBTP; null for silence. A peak between samples at the
             *     end of an interval may count in the next one.
             */
            peak_db: (number | null)[];
        };
        /** @description A new key. */
        MadeApiKey: components["schemas"]["ApiKey"] & {
            /** @description The key: send it as `Authorization: Bearer <key>`. It is never shown again. */
            key: string;
        };
        /** @description The account of the caller. */
        Me: components["schemas"]["UserView"] & {
            /**
             * @description Whether the caller is trusted as local. If so, the caller acts as the administrator without
             *     a token, even after logging out.
             */
            local: boolean;
        };
        /** @description An audio file on the service's machine. */
        MediaFile: {
            /** @description Absolute path of the file. */
            path: string;
            /** @description Name of the file. */
            name: string;
            /**
             * Format: int64
             * @description Size of the file in bytes.
             */
            size_bytes: number;
            /** @description Time of the last change, RFC 3339; null if the system does not report it. */
            modified_at: string | null;
            /**
             * @description Container format, such as `wave`; this and the following fields are null if the content is
             *     not supported.
             */
            container: string | null;
            /** @description Codec of the samples. */
            codec: string | null;
            /**
             * Format: int32
             * @description Sample rate in hertz.
             */
            sample_rate_hz: number | null;
            /**
             * Format: int32
             * @description Number of channels.
             */
            channels: number | null;
            /**
             * Format: double
             * @description Length in seconds, from the header; null also if the header does not contain it.
             */
            duration_secs: number | null;
        };
        /** @description Files to import. */
        MediaImport: {
            /** @description Absolute paths of 1 to 100 audio files. */
            paths: string[];
        };
        /** @description Notes, and the plugin to play them with. */
        MidiRenderRequest: {
            /** @description Id of an instrument of `GET /plugins/available`. */
            plugin_id: string;
            /** @description Notes, as in a MIDI item of a project. */
            notes: components["schemas"]["Project.Note"][];
            /** @description Controls, as in a MIDI item of a project. */
            controls?: components["schemas"]["Project.Control"][];
            /** @description Automation of at most 10,000 parameters, with at most 200,000 points. */
            automation?: components["schemas"]["PluginAutomation"][];
            /** @description Tempo changes as in a project; by default 120 quarter notes per minute. */
            tempo_map?: components["schemas"]["Project.TempoPoint"][];
            /**
             * @description Unit of the times. With `seconds`, the plugin gets a tempo of 120 quarter notes per
             *     minute.
             */
            time_base?: components["schemas"]["TimeBase"];
            /** @enum {integer|null} */
            sample_rate_hz?: 44100 | 48000 | 96000 | null;
            /**
             * Format: double
             * @description Maximum tail after the last note, in seconds. The default is the maximum that the
             *     service allows. The tail ends earlier after half a second below -100 dBFS.
             */
            tail_secs?: number | null;
            /** @description State that the plugin loads, in base64, as in the field `state` of a project. */
            state?: string | null;
            preset?: components["schemas"]["PluginPreset"] | null;
            /**
             * @description Normalized values (0 to 1) of parameters, by the name or the id of the parameter.
             *     They are set after `state` or `preset` is loaded.
             */
            params?: {
                [key: string]: number;
            };
        };
        /** @description A missing SoundFont or preset of a project. */
        MissingSound: {
            /** @description Ids of the tracks whose notes use the SoundFont or preset. */
            tracks: string[];
            /** @description Id of the SoundFont that is missing, or that lacks the preset. */
            soundfont_id: string;
            preset: components["schemas"]["PresetNumbers"] | null;
            /** @description Id of the SoundFont that played instead; null if nothing played. */
            played_soundfont_id: string | null;
            played_preset: components["schemas"]["NamedPreset"] | null;
        };
        /** @description The song to mix down, and the options of the export. */
        MixdownRequest: components["schemas"]["SelectionOptions"] & components["schemas"]["RenderOptions"] & {
            /** @description Name of the audio file; by default the name of the project. */
            name?: string | null;
        };
        /** @description The language models that users may use. */
        ModelList: {
            /** @description Always `list`. */
            object: string;
            /** @description The models as the service describes them; each has an `id`. */
            data: Record<string, unknown>[];
        };
        /** @description A further file of a render. It has the same tracks as the first file, and the same maximum tail. */
        MoreFile: components["schemas"]["FileOptions"] & components["schemas"]["SoundOptions"] & {
            range?: components["schemas"]["TickRange"] | null;
        };
        /** @description A preset with its name. */
        NamedPreset: {
            /**
             * Format: int32
             * @description SoundFont bank number; 128 contains drum kits.
             */
            bank: number;
            /**
             * Format: int32
             * @description Program number, 0 to 127.
             */
            program: number;
            /** @description Name of the preset in the SoundFont. */
            name: string;
        };
        /** @description An account to create. */
        NewAccount: {
            /**
             * @description Name to log in with: 2 to 64 letters from a to z, digits and `. _ - + @`, beginning with a
             *     letter or a digit; case does not matter.
             */
            username: string;
            /** @description Password. It must have a score of 3 or more, and at most 1024 bytes. */
            password: string;
            /**
             * @description Code of an invitation. It is required if registration needs an invitation. It sets the role
             *     of the account.
             */
            invite?: string | null;
        };
        /** @description A key to create. */
        NewApiKey: {
            /** @description Name of the key, 1 to 64 characters, such as that of the script that will use it. */
            name: string;
        };
        /** @description An invitation to make. */
        NewInvite: {
            /** @description Role of the new account; `user` by default. */
            role?: components["schemas"]["Role"];
            /** @description A note for administrators: at most 200 characters. */
            note?: string;
            /**
             * Format: int32
             * @description How long the invitation is valid, in seconds: 60 to 7776000 (90 days); 604800 (7 days) by
             *     default.
             */
            expires_in_secs?: number;
        };
        /** @description An invitation that was just made. */
        NewInviteAnswer: components["schemas"]["Invite"] & {
            /** @description The code for the invited person. It is never shown again. */
            code: string;
            /**
             * @description The page's path with the code, for registering. The code follows `#`. Browsers do not send
             *     that part, so no log contains the code.
             */
            register_path: string;
        };
        /** @description An account to make. */
        NewUser: {
            /**
             * @description Name to log in with: 2 to 64 letters from a to z, digits and `. _ - + @`, beginning with a
             *     letter or a digit; case does not matter.
             */
            username: string;
            /** @description Role of the user; `user` by default. */
            role?: components["schemas"]["Role"];
            /** @description First password, which must be changed at the first log-in; generated if left out. */
            password?: string | null;
        };
        /** @description Report of the normalization of a mix. */
        NormalizationReport: {
            /**
             * Format: double
             * @description Target loudness in LUFS.
             */
            target_lufs: number;
            /**
             * Format: double
             * @description Highest permitted true peak in dBTP.
             */
            true_peak_max_db: number;
            /**
             * Format: double
             * @description Gated loudness before the normalization, in LUFS; null if the song is silent, or too short
             *     or too soft to be measured.
             */
            original_lufs: number | null;
            /**
             * Format: double
             * @description Gain in decibels; 0 without `original_lufs`.
             */
            gain_db: number;
            /**
             * Format: double
             * @description Amount by which the highest true peak exceeded the limit after the gain, in decibels; 0 if
             *     it did not. The limiter reduced it by this amount, so the file can be softer than the
             *     target.
             */
            peak_reduction_db: number;
            /**
             * Format: int32
             * @description Number of times that the file was written, 1 to 4. It is written again with a lower limit
             *     while its true peak exceeds `true_peak_max_db`. After the fourth time the peak may still
             *     exceed it; a warning says so.
             */
            attempts: number;
        };
        /** @description Target of a loudness normalization. */
        Normalize: {
            /**
             * Format: double
             * @description Gated loudness in LUFS; -14 by default.
             */
            lufs?: number | null;
            /**
             * Format: double
             * @description Highest true peak in dBTP; -1 by default.
             */
            true_peak_db?: number | null;
        };
        /** @description Loss of level of an octave in mono. */
        OctaveReport: {
            /**
             * Format: double
             * @description Centre of the octave in hertz.
             */
            center_hz: number;
            /**
             * Format: double
             * @description Level of the octave in dBFS, where a full-scale sine in both channels is 0.
             */
            level_db: number;
            /**
             * Format: double
             * @description Loss of level in the sum of the channels, in decibels; null if the sum is silent.
             */
            mono_loss_db: number | null;
        };
        /** @description A plugin of a song, whose window is opened with its settings. */
        OpenWindowRequest: {
            /**
             * @description Id of an instrument of `GET /plugins/available` or of a `vst_effects` of `GET
             *     /plugins/effects`.
             */
            plugin_id: string;
            /** @description Id of the track of the plugin; missing for the master. */
            track_id?: string | null;
            /**
             * @description Id of the effect in the song; missing for an instrument. A caller has one window for
             *     each track, effect and plugin.
             */
            effect_id?: string | null;
            /**
             * @description Whether the window is shown through the service. Windows on the screen of this machine
             *     are not supported, so `false` is refused.
             * @default true
             */
            embed: boolean;
            /** @description State that the plugin loads, in base64, as in the field `state` of a project. */
            state?: string | null;
            preset?: components["schemas"]["PluginPreset"] | null;
            /**
             * @description Normalized values (0 to 1) of parameters, by the name or the id of the parameter.
             *     They are set after `state` or `preset` is loaded.
             */
            params?: {
                [key: string]: number;
            };
        };
        /** @description An open window of a plugin. */
        OpenedWindow: {
            /** @description Id of the window. */
            window_id: string;
            /** @description Path of the window, relative to the service. Its picture is at `/frame` below it. */
            embed_url: string;
            /**
             * @description Whether the window was open already. It then keeps its settings, and those of the request
             *     are ignored.
             */
            already_running: boolean;
            /**
             * Format: int32
             * @description Width of the window in pixels when it was opened.
             */
            width: number;
            /**
             * Format: int32
             * @description Height of the window in pixels when it was opened.
             */
            height: number;
        };
        /** @description A SoundFont that is not played because another one with the same id is played. */
        OtherSoundFont: {
            /** @description Owner of the SoundFont that is not played. */
            source: components["schemas"]["SoundFontSource"];
            /** @description Sample format of the SoundFont that is not played. */
            format: components["schemas"]["SoundFontFormat"];
            /** @description Reason why the other one is played. */
            reason: string;
        };
        /** @description A task and its owner. */
        OwnedTask: components["schemas"]["Task"] & {
            /** @description Id of the account that started the task. */
            owner_id: string;
            /** @description Name of that account. */
            owner: string;
        };
        /** @description A page of a list. */
        Page_Account: {
            /** @description The entries, newest first. */
            items: {
                /** @description Id, a UUID. */
                id: string;
                /** @description Name to log in with. */
                username: string;
                /** @description Role of the user. */
                role: components["schemas"]["Role"];
                /** @description Whether the account is disabled. */
                disabled: boolean;
                /** @description Whether the user must change the password before any other operation. */
                must_change_password: boolean;
                /** @description Whether the account has a password; in `standalone`, the administrator has none at first. */
                has_password: boolean;
                /** @description When the account was created, RFC 3339. */
                created_at: string;
                /** @description Time of the last log-in with the password, RFC 3339; null if never. */
                last_login_at: string | null;
                /**
                 * Format: int64
                 * @description Audio quota in bytes.
                 */
                audio_quota_bytes: number;
                /** @description Whether the quota was set for this user; otherwise `SF_AUDIO_QUOTA_BYTES` applies. */
                has_own_quota: boolean;
            }[];
            /** @description Cursor of the next page; null on the last page. */
            next_cursor: string | null;
        };
        /** @description A page of a list. */
        Page_AudioFile: {
            /** @description The entries, newest first. */
            items: {
                /** @description Id, a UUID. A project's audio items refer to it in `server_file_id`. */
                id: string;
                /** @description Name of the file when it was first uploaded. */
                name: string;
                /** @description SHA-256 of the file, in hexadecimal digits. */
                sha256: string;
                /** @description Media type of the file. */
                media_type: string;
                /** @description Container format. */
                container: string;
                /** @description Codec of the samples. */
                codec: string;
                /**
                 * Format: int64
                 * @description Size of the file in bytes.
                 */
                size_bytes: number;
                /**
                 * Format: int64
                 * @description Bytes that count toward the quota: the file, its decoded copies and its peaks.
                 */
                stored_bytes: number;
                /**
                 * Format: int32
                 * @description Sample rate in hertz.
                 */
                sample_rate_hz: number;
                /**
                 * Format: int32
                 * @description Number of channels of the file.
                 */
                source_channels: number;
                /**
                 * Format: int32
                 * @description Number of channels of the decoded copy: 1 or 2. Files with more channels are mixed to two
                 *     after ITU-R BS.775.
                 */
                channels: number;
                /**
                 * Format: int64
                 * @description Length in frames, at `sample_rate_hz`.
                 */
                frames: number;
                /**
                 * Format: double
                 * @description Length in seconds.
                 */
                duration_secs: number;
                /** @description Faults of the file that did not prevent decoding, as sentences. */
                warnings: string[];
                /** @description Tags, in alphabetical order. */
                tags: string[];
                /** @description When the file was uploaded, RFC 3339. */
                created_at: string;
                /** @description Path to download the file. */
                file_url: string;
            }[];
            /** @description Cursor of the next page; null on the last page. */
            next_cursor: string | null;
        };
        /** @description A page of a list. */
        Page_Entry: {
            /** @description The entries, newest first. */
            items: {
                /** @description Id, a UUID. */
                id: string;
                /** @description When the action happened, RFC 3339. */
                at: string;
                /** @description Name of the action, such as `log_in_failed`. */
                action: string;
                /** @description Id of the account that acted; null without a log-in. */
                actor_id: string | null;
                /**
                 * @description Name of the account that acted, at the time of the action; `nobody` or `command line`
                 *     without an account.
                 */
                actor: string;
                /** @description Authentication of the actor: `local`, `token`, `api_key`, `command_line` or `nobody`. */
                via: components["schemas"]["Via"];
                /** @description Address of the client; null on the command line. */
                address: string | null;
                /** @description The target of the action, such as the name of an account, a project or a file. */
                target: string;
                /** @description Details; may be empty. */
                detail: string;
            }[];
            /** @description Cursor of the next page; null on the last page. */
            next_cursor: string | null;
        };
        /** @description A page of a list. */
        Page_Invite: {
            /** @description The entries, newest first. */
            items: {
                /** @description Id, a UUID. */
                id: string;
                /** @description Whether the invitation can be used, was used or has expired. */
                state: components["schemas"]["InviteState"];
                /** @description Role of the created account. */
                role: components["schemas"]["Role"];
                /** @description A note for administrators; may be empty. */
                note: string;
                /** @description Name of the administrator who created the invitation. */
                created_by: string;
                /** @description When the invitation was created, RFC 3339. */
                created_at: string;
                /** @description Expiry time, RFC 3339. */
                expires_at: string;
                /** @description When the invitation was used, RFC 3339; null if it was not. */
                used_at: string | null;
                /** @description Name of the account that was created with the invitation; null if it was not used. */
                used_by: string | null;
            }[];
            /** @description Cursor of the next page; null on the last page. */
            next_cursor: string | null;
        };
        /** @description A page of a list. */
        Page_MediaFile: {
            /** @description The entries, newest first. */
            items: {
                /** @description Absolute path of the file. */
                path: string;
                /** @description Name of the file. */
                name: string;
                /**
                 * Format: int64
                 * @description Size of the file in bytes.
                 */
                size_bytes: number;
                /** @description Time of the last change, RFC 3339; null if the system does not report it. */
                modified_at: string | null;
                /**
                 * @description Container format, such as `wave`; this and the following fields are null if the content is
                 *     not supported.
                 */
                container: string | null;
                /** @description Codec of the samples. */
                codec: string | null;
                /**
                 * Format: int32
                 * @description Sample rate in hertz.
                 */
                sample_rate_hz: number | null;
                /**
                 * Format: int32
                 * @description Number of channels.
                 */
                channels: number | null;
                /**
                 * Format: double
                 * @description Length in seconds, from the header; null also if the header does not contain it.
                 */
                duration_secs: number | null;
            }[];
            /** @description Cursor of the next page; null on the last page. */
            next_cursor: string | null;
        };
        /** @description A page of a list. */
        Page_OwnedTask: {
            /** @description The entries, newest first. */
            items: (components["schemas"]["Task"] & {
                /** @description Id of the account that started the task. */
                owner_id: string;
                /** @description Name of that account. */
                owner: string;
            })[];
            /** @description Cursor of the next page; null on the last page. */
            next_cursor: string | null;
        };
        /** @description A page of a list. */
        Page_PresetSummary: {
            /** @description The entries, newest first. */
            items: {
                /** @description Id: a UUID, or a name that begins with `factory-`. */
                id: string;
                /** @description Purpose of the preset. */
                kind: components["schemas"]["PresetKind"];
                /** @description Origin of the preset. */
                source: components["schemas"]["PresetSource"];
                /** @description Name of the preset. */
                name: string;
                /** @description Category of the preset, such as `Vocals`; may be empty. */
                category: string;
                /** @description Description of the preset; may be empty. */
                description: string;
                /** @description Time when the preset was stored, RFC 3339; null for factory presets. */
                created_at: string | null;
                /** @description Time of the last change, RFC 3339; null for factory presets. */
                updated_at: string | null;
            }[];
            /** @description Cursor of the next page; null on the last page. */
            next_cursor: string | null;
        };
        /** @description A page of a list. */
        Page_ProjectSummary: {
            /** @description The entries, newest first. */
            items: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Title of the project. */
                name: string;
                /**
                 * Format: int64
                 * @description Current revision of the project.
                 */
                revision: number;
                /** @description Time of the last save, RFC 3339. */
                updated_at: string;
                /**
                 * Format: int64
                 * @description Size of the stored JSON in bytes.
                 */
                size_bytes: number;
            }[];
            /** @description Cursor of the next page; null on the last page. */
            next_cursor: string | null;
        };
        /** @description A page of a list. */
        Page_PromptTemplate: {
            /** @description The entries, newest first. */
            items: {
                /** @description Id, a UUID. */
                id: string;
                /** @description Title of the template. */
                title: string;
                /** @description The text, with `{{name}}` at the positions of variables. */
                body: string;
                /** @description Keywords for searches. */
                keywords: string[];
                /** @description Whether the template is a favourite. */
                favourite: boolean;
                /** @description Names of the variables, in the order of their first use. */
                variables: string[];
                /** @description When the template was stored, RFC 3339. */
                created_at: string;
                /** @description When the template was last replaced, RFC 3339. Setting only `favourite` does not count. */
                updated_at: string;
            }[];
            /** @description Cursor of the next page; null on the last page. */
            next_cursor: string | null;
        };
        /** @description A page of a list. */
        Page_RevisionSummary: {
            /** @description The entries, newest first. */
            items: {
                /**
                 * Format: int64
                 * @description Number of the revision.
                 */
                revision: number;
                /** @description Time when the revision was saved, RFC 3339. */
                updated_at: string;
                /**
                 * Format: int64
                 * @description Size of the stored JSON in bytes.
                 */
                size_bytes: number;
            }[];
            /** @description Cursor of the next page; null on the last page. */
            next_cursor: string | null;
        };
        /** @description A page of a list. */
        Page_Task: {
            /** @description The entries, newest first. */
            items: {
                /** @description Id of the task, a UUID. */
                id: string;
                /** @description Kind of task, such as `render`. */
                kind: string;
                /** @description State of the task. */
                state: components["schemas"]["TaskState"];
                /**
                 * Format: double
                 * @description Progress of the task, from 0 to 1.
                 */
                progress: number;
                /** @description Text for users about the current step; may be empty. */
                message: string;
                /** @description Time when the task was created, RFC 3339. */
                created_at: string;
                /** @description Time when the first attempt started, RFC 3339; null before that. */
                started_at: string | null;
                /** @description Time when the task ended, RFC 3339; null before that. */
                finished_at: string | null;
                /**
                 * @description Result of the task: the body of the answer that a direct request would get. Null unless the
                 *     task has succeeded.
                 */
                result: unknown;
                /**
                 * @description Problem that made the task fail, with `type`, `title`, `status`, `detail` and `code`. Null
                 *     unless the task has failed.
                 */
                error: unknown;
            }[];
            /** @description Cursor of the next page; null on the last page. */
            next_cursor: string | null;
        };
        /** @description A page of a list. */
        Page_Throttled: {
            /** @description The entries, newest first. */
            items: {
                /** @description Id of the entry. */
                id: string;
                /** @description Whether an account, an address or both are throttled. */
                kind: components["schemas"]["ThrottledKind"];
                /** @description Name of the account; null if the entry is about an address or an unknown name. */
                username: string | null;
                /**
                 * @description IPv4 address, or IPv6 network such as `2001:db8:1:2::/64`; null if the entry is about an
                 *     account.
                 */
                address: string | null;
                /**
                 * Format: int64
                 * @description Number of failed log-ins; the count starts again after an hour without one. For an address,
                 *     the number of failed accounts; for registrations, the number of all attempts, including
                 *     successful ones.
                 */
                failures: number;
                /** @description When the last log-in failed or the last registration arrived, RFC 3339. */
                last_failed_at: string;
                /**
                 * Format: int64
                 * @description Seconds until the next registration is admitted; 0 for log-ins, which wait in a queue
                 *     instead.
                 */
                retry_after_secs: number;
            }[];
            /** @description Cursor of the next page; null on the last page. */
            next_cursor: string | null;
        };
        /** @description A page of a list. */
        Page_UploadStatus: {
            /** @description The entries, newest first. */
            items: {
                /** @description Id of the upload. */
                id: string;
                /** @description Path of the upload in the API. */
                location: string;
                /** @description Name of the file. */
                name: string;
                /**
                 * Format: int64
                 * @description Size of the file in bytes, as announced by the client; null while the client defers it.
                 */
                length_bytes: number | null;
                /**
                 * Format: int64
                 * @description Number of bytes received so far.
                 */
                offset_bytes: number;
                /** @description When the upload expires, RFC 3339. Every received part extends this time. */
                expires_at: string;
                /** @description State of the upload. */
                state: components["schemas"]["UploadState"];
                /** @description Id of the task that decodes the file, once the upload is complete. */
                task_id: string | null;
                /** @description Id of the audio file, once it is stored. */
                audio_id: string | null;
            }[];
            /** @description Cursor of the next page; null on the last page. */
            next_cursor: string | null;
        };
        /** @description A plugin with its parameters. */
        ParameterList: {
            /** @description Id of the plugin. */
            plugin_id: string;
            /** @description Name of the plugin. */
            name: string;
            /** @description Vendor of the plugin; empty if the plugin does not state it. */
            vendor: string;
            /** @description Version of the plugin as its vendor writes it; empty if the plugin does not state it. */
            version: string;
            /** @description Plugin format: VST2 or VST3. */
            format: components["schemas"]["VstFormat"];
            /** @description Whether the plugin receives notes. */
            accepts_notes: boolean;
            /**
             * @description Whether the plugin is an effect with a side-chain input, to which the `side_chain` of an
             *     effect in a project is routed.
             */
            has_side_chain: boolean;
            /** @description Whether the plugin has its own window, which `POST /plugins/open-fx-gui` opens. */
            has_window: boolean;
            /**
             * Format: double
             * @description Latency at 48 kHz, in seconds. Renders remove it.
             */
            latency_secs: number;
            /** @description Kind of the tail, which is the output of the plugin after its input has ended. */
            tail: components["schemas"]["PluginTail"];
            /**
             * Format: double
             * @description Length of the tail in seconds; null if it is `infinite` or `unknown`.
             */
            tail_secs: number | null;
            /** @description Names of the programs, which `preset` selects by their index. */
            programs: string[];
            /**
             * Format: int32
             * @description Index of the selected program; null if it is unknown, as after `state`, or if there is none.
             */
            program: number | null;
            /** @description All parameters except hidden and read-only ones. */
            parameters: components["schemas"]["PluginParameter"][];
            /** @description A text for each of the `values` of the request, without the unit. */
            value_texts: string[];
            /** @description State of the plugin in base64; null if it was not requested. */
            state: string | null;
        };
        /**
         * @description How a control, such as a knob, divides the range of a parameter.
         * @enum {string}
         */
        ParameterScale: "linear" | "logarithmic" | "choice" | "switch";
        /** @description A plugin, and the values with which its parameters are listed. */
        ParametersRequest: {
            /**
             * @description Id of an instrument of `GET /plugins/available` or of a `vst_effects` of `GET
             *     /plugins/effects`.
             */
            plugin_id: string;
            /** @description Values for which the answer has texts, at most 1000. They do not change the plugin. */
            values?: components["schemas"]["PluginValue"][];
            /** @description Whether the answer contains the state of the plugin with these values. */
            with_state?: boolean;
            /** @description State that the plugin loads, in base64, as in the field `state` of a project. */
            state?: string | null;
            preset?: components["schemas"]["PluginPreset"] | null;
            /**
             * @description Normalized values (0 to 1) of parameters, by the name or the id of the parameter.
             *     They are set after `state` or `preset` is loaded.
             */
            params?: {
                [key: string]: number;
            };
        };
        /** @description A password whose strength is measured. */
        PasswordCandidate: {
            /** @description The password, which is not stored. Only its first 100 characters are scored. */
            password: string;
        };
        /** @description A change of password. */
        PasswordChange: {
            /** @description The current password. It may be left out if the account has none. */
            current_password?: string | null;
            /** @description The new password. It must have a score of 3 or more, and at most 1024 bytes. */
            new_password: string;
        };
        /** @description Strength of a password. */
        PasswordStrength: {
            /**
             * Format: int32
             * @description Score from 0 (trivial to guess) to 4 (very hard to guess).
             */
            score: number;
            /** @description Reason why the password is weak; null if the password is not weak. */
            warning: string | null;
            /** @description Advice for a stronger password. */
            suggestions: string[];
            /** @description Whether the password is strong enough to be set. */
            accepted: boolean;
        };
        /** @description Peaks as BBC audiowaveform writes them in JSON (version 2). */
        Peaks: {
            /**
             * Format: int32
             * @description Version of the format: 2.
             */
            version: number;
            /**
             * Format: int32
             * @description Number of channels: 1 or 2.
             */
            channels: number;
            /**
             * Format: int32
             * @description Sample rate in hertz.
             */
            sample_rate: number;
            /**
             * Format: int64
             * @description Frames per pixel.
             */
            samples_per_pixel: number;
            /**
             * Format: int32
             * @description Width of the values in bits: 8 or 16.
             */
            bits: number;
            /**
             * Format: int64
             * @description Number of pixels.
             */
            length: number;
            /** @description Minimum and maximum of each channel in turn, pixel by pixel. Full scale is 127 or 32767. */
            data: number[];
        };
        /** @description Result of a folder dialog. */
        PickedDir: {
            /** @description Absolute path of the chosen folder; null if the dialog was cancelled. */
            path: string | null;
            /** @description Whether the dialog was closed without a choice. */
            cancelled: boolean;
        };
        /** @description Automation of a parameter. */
        PluginAutomation: {
            /** @description Id or name of the parameter, as in `params`. */
            param: string;
            /** @description Points by ascending time. */
            points: components["schemas"]["PluginAutomationPoint"][];
        };
        /** @description A point of automation. It has either `tick` or `secs`. */
        PluginAutomationPoint: {
            /**
             * Format: double
             * @description Position in the unit of `time_base`.
             */
            tick?: number | null;
            /**
             * Format: double
             * @description Position in seconds.
             */
            secs?: number | null;
            /**
             * Format: double
             * @description Normalized value.
             */
            value: number;
            curve?: ("linear" | "step") | number;
        };
        /** @description A plugin folder. */
        PluginDir: {
            /** @description Absolute path of the folder; at most 2048 bytes. */
            path: string;
        };
        /** @description Plugin folders of a user, or in `container` of the installation. */
        PluginDirs: {
            /**
             * @description Absolute paths of the folders, without symbolic links, in the order in which they were
             *     added.
             */
            plugin_dirs: string[];
            /**
             * @description Usual plugin folders of the system (`SF_PLUGIN_SUGGESTED_DIRS`) that exist and that the
             *     caller may add, as absolute paths without symbolic links. Folders in the list, and folders
             *     below them, are left out. Empty for callers who may not add folders.
             */
            suggested: string[];
            /** @description Cursor of the next page; null on the last page and in answers that contain all folders. */
            next_cursor: string | null;
        };
        /** @description The outcome of a plugin instrument or a plugin effect. */
        PluginOutcome: components["schemas"]["PluginState"] & {
            /** @description Id of the track; null for an effect of the master. */
            track_id: string | null;
            /** @description Id of the effect; null for the instrument of the track. */
            effect_id: string | null;
        };
        /** @description A parameter of a plugin. Its values are normalized: 0 to 1. */
        PluginParameter: {
            /**
             * Format: int32
             * @description Id of the parameter, as in the `params` of an instrument.
             */
            id: number;
            /** @description Display name. */
            name: string;
            /** @description Shorter name; empty if the plugin does not state it. */
            short_name: string;
            /** @description Label of the unit, such as `dB`; empty if the plugin does not state it. */
            unit: string;
            /**
             * Format: double
             * @description Value with the settings of the request.
             */
            value: number;
            /**
             * Format: double
             * @description Default value.
             */
            default: number;
            /** @description Text of `value` without the unit; empty if the plugin has none. */
            text: string;
            /**
             * Format: int32
             * @description Number of steps between 0 and 1: 0 for a continuous parameter, 1 for a switch, and otherwise
             *     one less than the number of values.
             */
            step_count: number;
            /** @description Whether the parameter can be automated. All parameters can be set to a value. */
            is_automatable: boolean;
            /** @description Whether this is the plugin's own bypass. */
            is_bypass: boolean;
            /**
             * @description Texts of evenly spaced values from 0 to 1, without the unit. Every step of a parameter with
             *     up to 128 values has a text. Continuous parameters have 101, 51, 21, 11 or 2 texts; the more
             *     parameters the plugin has, the fewer texts.
             */
            texts: string[];
        };
        /** @description A preset of a plugin. */
        PluginPreset: number | string;
        /** @description A problem that a scan for plugins found. */
        PluginProblem: {
            /** @description Path of the module or folder. */
            path: string;
            /** @description Reason why the plugins of the module, or the folder, cannot be used. */
            problem: string;
        };
        /** @description Result of a scan for a user's plugins. */
        PluginScan: {
            /** @description Id of the user; null for the scan that all users share. */
            user_id: string | null;
            /** @description When the scan ended, RFC 3339. */
            scanned_at: string;
            /** @description Folders that were searched. */
            folders: string[];
            /** @description Number of plugins that play notes. */
            instruments: number;
            /** @description Number of plugins that process audio. */
            effects: number;
            /** @description Plugins and modules that could not be classified, and folders that could not be read. */
            problems: components["schemas"]["PluginProblem"][];
        };
        /** @description State of a plugin's sound. */
        PluginState: {
            /** @description Id of the sound. It changes with everything that determines the sound. */
            sound_id: string;
            /**
             * Format: int64
             * @description Length in frames at the sample rate of the project.
             */
            frames: number;
            /** @description Whether the sound is silent. */
            is_silent: boolean;
            /**
             * @description Faults of the sound, as sentences: values and automation of parameters that the plugin
             *     does not have are ignored, and samples that are not numbers are silent.
             */
            warnings: string[];
            /** @enum {string} */
            state: "ready";
        } | {
            /** @description Reason, as a clause without a capital letter and a full stop. */
            reason: string;
            /** @enum {string} */
            state: "missing";
        } | {
            /** @description Reason, as a sentence. */
            reason: string;
            /** @enum {string} */
            state: "failed";
        };
        /**
         * @description Kind of a plugin's tail, which is its output after the input has ended.
         * @enum {string}
         */
        PluginTail: "none" | "fixed" | "infinite" | "unknown";
        /** @description A value of a parameter. */
        PluginValue: {
            /**
             * Format: int32
             * @description Id of the parameter.
             */
            id: number;
            /**
             * Format: double
             * @description Normalized value.
             */
            value: number;
        };
        /** @description A preset of a SoundFont. */
        Preset: {
            /**
             * Format: int32
             * @description SoundFont bank number; 128 contains drum kits.
             */
            bank: number;
            /**
             * Format: int32
             * @description Program number, 0 to 127.
             */
            program: number;
            /** @description Name of the preset in the file. */
            name: string;
        };
        /** @description A preset to store. */
        PresetBody: {
            /** @description Purpose of the preset. */
            kind: components["schemas"]["PresetKind"];
            /** @description Name of the preset: 1 to 200 characters. */
            name: string;
            /** @description Category of the preset: at most 64 characters; empty by default. */
            category?: string;
            /** @description Description of the preset: at most 2000 characters; empty by default. */
            description?: string;
            /**
             * @description `effects` as on a track of a project. An instrument has a `synth_engine`, and may also have
             *     `effects`. Ids and side-chains of effects are not stored, because they have a meaning only
             *     within one project. An export has the options of `/plugins/render` that concern its file:
             *     format, quality, tags, bit depth, noise shaping, sample rate, normalization and the check in
             *     mono.
             */
            content: Record<string, unknown>;
        };
        /** @description A plugin, and the settings that are saved. */
        PresetFileRequest: {
            /**
             * @description Id of an instrument of `GET /plugins/available` or of a `vst_effects` of `GET
             *     /plugins/effects`.
             */
            plugin_id: string;
            /** @description State that the plugin loads, in base64, as in the field `state` of a project. */
            state?: string | null;
            preset?: components["schemas"]["PluginPreset"] | null;
            /**
             * @description Normalized values (0 to 1) of parameters, by the name or the id of the parameter.
             *     They are set after `state` or `preset` is loaded.
             */
            params?: {
                [key: string]: number;
            };
        };
        /**
         * @description The purpose of a preset.
         * @enum {string}
         */
        PresetKind: "instrument" | "effect_chain" | "export";
        /** @description Bank and program number of a preset. */
        PresetNumbers: {
            /**
             * Format: int32
             * @description SoundFont bank number; 128 contains drum kits.
             */
            bank: number;
            /**
             * Format: int32
             * @description Program number, 0 to 127.
             */
            program: number;
        };
        /**
         * @description The origin of a preset.
         * @enum {string}
         */
        PresetSource: "factory" | "user";
        /** @description A preset without its content. */
        PresetSummary: {
            /** @description Id: a UUID, or a name that begins with `factory-`. */
            id: string;
            /** @description Purpose of the preset. */
            kind: components["schemas"]["PresetKind"];
            /** @description Origin of the preset. */
            source: components["schemas"]["PresetSource"];
            /** @description Name of the preset. */
            name: string;
            /** @description Category of the preset, such as `Vocals`; may be empty. */
            category: string;
            /** @description Description of the preset; may be empty. */
            description: string;
            /** @description Time when the preset was stored, RFC 3339; null for factory presets. */
            created_at: string | null;
            /** @description Time of the last change, RFC 3339; null for factory presets. */
            updated_at: string | null;
        };
        /** @description Body of every error answer (RFC 9457). */
        Problem: {
            /** @description Kind of problem: a URI reference made from `code`. */
            type: string;
            /** @description The status in words. */
            title: string;
            /**
             * Format: int32
             * @description HTTP status.
             */
            status: number;
            /** @description Explanation for people. */
            detail: string;
            /** @description Stable name of the problem for programs. */
            code: string;
            /** @description The invalid values of a document that failed validation. */
            errors?: components["schemas"]["FieldError"][];
        };
        /** @description A project in a list. */
        ProjectSummary: {
            /** @description Id of the project. */
            project_id: string;
            /** @description Title of the project. */
            name: string;
            /**
             * Format: int64
             * @description Current revision of the project.
             */
            revision: number;
            /** @description Time of the last save, RFC 3339. */
            updated_at: string;
            /**
             * Format: int64
             * @description Size of the stored JSON in bytes.
             */
            size_bytes: number;
        };
        /** @description A prompt template. */
        PromptTemplate: {
            /** @description Id, a UUID. */
            id: string;
            /** @description Title of the template. */
            title: string;
            /** @description The text, with `{{name}}` at the positions of variables. */
            body: string;
            /** @description Keywords for searches. */
            keywords: string[];
            /** @description Whether the template is a favourite. */
            favourite: boolean;
            /** @description Names of the variables, in the order of their first use. */
            variables: string[];
            /** @description When the template was stored, RFC 3339. */
            created_at: string;
            /** @description When the template was last replaced, RFC 3339. Setting only `favourite` does not count. */
            updated_at: string;
        };
        /** @description An account with the password that the administrator gives to its owner. */
        ProvidedUser: {
            /** @description The new or changed account. */
            user: components["schemas"]["Account"];
            /** @description The generated password; null if one was sent. It is never shown again. */
            password: string | null;
        };
        /**
         * @description Report of a render: measurements and hash of the file, settings, and parts that are missing from
         *     it.
         */
        Receipt: {
            /**
             * Format: double
             * @description Highest absolute value of any sample; 1 is full scale.
             */
            peak: number;
            /**
             * Format: int64
             * @description Number of samples beyond full scale. In files of integers they were clipped to it.
             */
            clipped_samples: number;
            /**
             * Format: double
             * @description Loudness range in LU (EBU Tech 3342).
             */
            loudness_range_lu: number;
            /**
             * Format: double
             * @description Highest loudness of any 400 ms in LUFS; null for silence.
             */
            max_momentary_lufs: number | null;
            /**
             * Format: double
             * @description Highest loudness of any 3 seconds in LUFS; null for silence.
             */
            max_short_term_lufs: number | null;
            /** @description Loudness and peaks over time. */
            curve: components["schemas"]["LoudnessCurve"];
            /** @description Ids of tracks that should be audible but are silent. */
            silent_tracks: string[];
            /**
             * @description Parts of the project that the engine cannot play: plugins, effects of other versions, and
             *     missing audio.
             */
            left_out: components["schemas"]["LeftOutOfRender"][];
            /** @description SoundFonts and presets of the project that are missing, and their replacements. */
            missing_sounds: components["schemas"]["MissingSound"][];
            /** @description Version of the engine. */
            engine_version: string;
            /** @description SHA-256 of the project document, in hexadecimal. */
            project_sha256: string;
            /**
             * @description SHA-256 in hexadecimal of the audio data of a WAV file, without its header, or of the
             *     decoded samples of a file in another format.
             */
            pcm_sha256: string;
            /**
             * Format: int64
             * @description Number of frames in the file.
             */
            frames: number;
            /**
             * Format: double
             * @description End of the last item in seconds, or length of the range. The tail of a song comes after it.
             */
            song_secs: number;
            /** @description Gain reduction of the mix limiter. */
            limiter: components["schemas"]["LimiterReport"];
            normalization: components["schemas"]["NormalizationReport"] | null;
            channels: components["schemas"]["ChannelReport"] | null;
            /** @description Settings of the render. */
            settings: components["schemas"]["ReceiptSettings"];
        };
        /** @description Settings with which a file was rendered. */
        ReceiptSettings: {
            /**
             * Format: int32
             * @description Sample rate of the file in hertz.
             */
            sample_rate_hz: number;
            /** @description File format. */
            format: components["schemas"]["Format"];
            bit_depth: components["schemas"]["BitDepth"] | null;
            /**
             * Format: int32
             * @description Bit rate in kilobits per second; null if the file has none.
             */
            bit_rate_kbps: number | null;
            /**
             * Format: int32
             * @description Quality of a variable bit rate, 0 to 10; null if the file has none.
             */
            quality: number | null;
            /** @description Whether the quantization noise was shaped. */
            noise_shaping: boolean;
            range: components["schemas"]["TickRange"] | null;
            /** @description Ids of the only tracks that play; null for all tracks. */
            tracks: string[] | null;
            /**
             * Format: double
             * @description Maximum length of the tail, in seconds.
             */
            tail_secs: number;
            /**
             * Format: int32
             * @description Maximum number of voices of one track.
             */
            polyphony: number;
            /** @description How voices interpolate between the values of a sample: `linear`, `four_point` or `sinc`. */
            interpolation: string;
            /** @description How velocity changes the filter cutoff: `as_stated` or `specification`. */
            velocity_to_cutoff: string;
            /** @description Reverb that all instruments share, as in a project's settings. */
            reverb: Record<string, unknown>;
            /** @description Chorus that all instruments share, as in a project's settings. */
            chorus: Record<string, unknown>;
            /**
             * Format: int64
             * @description Seed of every random sequence, including dither.
             */
            seed: number;
            /** @description The banks that were played, each as its `soundfont_id` or file name. */
            soundfonts: string[];
        };
        /** @description Measurements of a finished recording, by which a mix and its reference are compared. */
        ReferenceAnswer: {
            /** @description Name of the file. */
            name: string;
            /**
             * Format: double
             * @description Length in seconds.
             */
            duration_secs: number;
            /**
             * Format: int32
             * @description Sample rate in hertz.
             */
            sample_rate_hz: number;
            /**
             * Format: double
             * @description Gated loudness in LUFS (EBU R 128); null for silence and for files shorter than 400 ms. A
             *     mono file is measured as if both loudspeakers played it, which is 3 LU more than on meters
             *     that measure it as one channel.
             */
            lufs: number | null;
            /**
             * Format: double
             * @description True peak in dBTP; null for silence.
             */
            true_peak_db: number | null;
            /**
             * Format: double
             * @description Loudness range in LU (EBU Tech 3342).
             */
            loudness_range_lu: number;
            /**
             * Format: double
             * @description Mean frequency of the spectrum weighted by amplitude, in hertz; null for silence.
             */
            spectral_centroid_hz: number | null;
            /** @description Levels in third-octave bands from 25 Hz to 20 kHz. */
            third_octaves: components["schemas"]["BandLevel"][];
            /** @description Faults of the file that did not prevent decoding, as sentences. */
            warnings: string[];
        };
        /** @description A stored audio file that a mix is compared with. */
        ReferenceRequest: {
            /** @description Id of the audio file. */
            audio_id: string;
        };
        /** @description A refused file. */
        RefusedFile: {
            /** @description Name of the file. */
            name: string;
            /** @description The reason for the refusal. */
            problem: components["schemas"]["Problem"];
        };
        /** @description A refused file. */
        RefusedMedia: {
            /** @description Path of the file, as requested. */
            path: string;
            /** @description Reason for the refusal. */
            problem: components["schemas"]["Problem"];
        };
        /**
         * @description Which people may register.
         * @enum {string}
         */
        Registration: "open" | "invite" | "closed";
        /** @description The result of a render. */
        RenderAnswer: components["schemas"]["FileWithReceipt"] & {
            /** @description The further files, in the order of the request. */
            more_files: components["schemas"]["FileWithReceipt"][];
        };
        /** @description A finished file in the list of renders. */
        RenderEntry: components["schemas"]["RenderedFile"] & {
            /** @description Title of the file. */
            title: string;
            /** @description Id of the project that was rendered; null for a file made by `POST /audio/export`. */
            project_id: string | null;
            /** @description Time of the render, RFC 3339. */
            created_at: string;
            /**
             * Format: int64
             * @description Size of the file in bytes.
             */
            size_bytes: number | null;
        };
        /** @description A link to a render. */
        RenderLink: {
            /** @description Path of the file, for everybody who has the link. */
            url: string;
            /** @description Time when the link expires, RFC 3339. */
            expires_at: string;
        };
        /** @description Tags of a file. The title also names the file in the browser. */
        RenderMetadata: {
            /**
             * @description Title; at most 1,024 bytes, like the other texts. In a render, the default is the
             *     project's name.
             */
            title?: string | null;
            /** @description Artist. */
            artist?: string | null;
            /** @description Album. */
            album?: string | null;
            /** @description Genre. */
            genre?: string | null;
            /**
             * Format: int32
             * @description Year of the recording.
             */
            year?: number | null;
            /** @description Comment; at most 65,536 bytes. Only a comment may contain line breaks. */
            comment?: string | null;
            /**
             * @description International Standard Recording Code (ISO 3901), such as `GB-A1B-23-00001`, with or without
             *     hyphens.
             */
            isrc?: string | null;
            /** @description Cover picture: a JPEG or PNG file of at most 1 MiB in base64. WAV files cannot contain one. */
            cover?: string | null;
        };
        /** @description The project of an export, and how its audio is written. */
        RenderOptions: components["schemas"]["SoundOptions"] & {
            /** @description Id of a stored project. A request must have either this or `project`. */
            project_id?: string | null;
            project?: components["schemas"]["Project"] | null;
            /**
             * Format: double
             * @description Longest tail after the last item of the song, in seconds; 5 by default.
             */
            tail_secs?: number | null;
        };
        /** @description Project and options of a render. */
        RenderRequest: components["schemas"]["FileOptions"] & components["schemas"]["SelectionOptions"] & components["schemas"]["RenderOptions"] & {
            /**
             * @description Further files of the same render, such as other formats, or one file for each section of the
             *     song. The mix is rendered once for all files with a `range`, and once for all others.
             */
            more_files?: components["schemas"]["MoreFile"][] | null;
        };
        /** @description Values of a template's variables. */
        RenderTemplate: {
            /** @description Texts by the names of variables; unused ones are ignored. */
            variables?: {
                [key: string]: string;
            };
        };
        /** @description A finished file among the renders of a user. */
        RenderedFile: {
            /** @description Id of the render. */
            render_id: string;
            /** @description Path to download the file. */
            audio_url: string;
            /** @description File format. */
            format: components["schemas"]["Format"];
            bit_depth: components["schemas"]["BitDepth"] | null;
            /**
             * Format: double
             * @description Length in seconds.
             */
            duration_secs: number;
            /**
             * Format: int32
             * @description Sample rate in hertz.
             */
            sample_rate_hz: number;
            /**
             * Format: double
             * @description Gated loudness of the file in LUFS (EBU R 128); null for silence.
             */
            lufs: number | null;
            /**
             * Format: double
             * @description True peak of the file in dBTP; null for silence.
             */
            true_peak_db: number | null;
        };
        /** @description A template with the values of its variables. */
        RenderedTemplate: {
            /** @description Text of the template, with all variables replaced by their values. */
            text: string;
        };
        /** @description The renders of a user. */
        Renders: {
            /** @description The renders, the newest first. */
            items: components["schemas"]["RenderEntry"][];
        };
        /** @description A revision in a list. */
        RevisionSummary: {
            /**
             * Format: int64
             * @description Number of the revision.
             */
            revision: number;
            /** @description Time when the revision was saved, RFC 3339. */
            updated_at: string;
            /**
             * Format: int64
             * @description Size of the stored JSON in bytes.
             */
            size_bytes: number;
        };
        /**
         * @description Role of a user.
         * @enum {string}
         */
        Role: "admin" | "user";
        /** @description The environment of this process. */
        Runtime: {
            /** @description Kind of deployment. */
            environment: components["schemas"]["Environment"];
            /** @description Name of the operating system. */
            os: string;
            /** @description Architecture of the processor. */
            architecture: string;
            /** @description Number of processors that this process may use. */
            processors: number;
            /** @description Time when this process started, RFC 3339. */
            started_at: string;
            /**
             * Format: int64
             * @description Time since this process started, in seconds.
             */
            uptime_secs: number;
            /** @description Kind of database: `sqlite` or `postgresql`. */
            database: string;
            /**
             * Format: int64
             * @description Schema version of the database.
             */
            database_form: number;
            /** @description Kind of file storage: `folder`, `shared_folder` or `s3`. */
            blob_store: string;
            /** @description Runner of tasks: `threads` of this process, or a `queue` that several processes share. */
            tasks: string;
            /**
             * @description Number of tasks that this process runs at a time (`SF_TASK_WORKERS`); 0 if only workers run
             *     them.
             */
            task_workers: number;
        };
        /** @description Answer to a save. */
        Saved: {
            /** @description Id of the project. */
            project_id: string;
            /**
             * Format: int64
             * @description The revision that the save made: 1 for a new project.
             */
            revision: number;
            /** @description Time of the save, RFC 3339. */
            updated_at: string;
        };
        /** @description A file that was saved. */
        SavedFile: {
            /** @description Absolute path of the file. */
            path: string;
            /** @description Name of the file. A number was added if the requested name existed. */
            name: string;
            /**
             * Format: int64
             * @description Size of the file in bytes.
             */
            size_bytes: number;
        };
        /** @description Plugins and SoundFonts found in the caller's folders. */
        ScanAnswer: {
            /** @description Total number of instruments, effects and entries of `unclassified`. */
            vst_found: number;
            /** @description Number of plugins that are instruments. */
            instruments: number;
            /** @description Number of plugins that are audio effects. */
            effects: number;
            /** @description Plugins of unknown kind, and modules that could not be scanned. */
            unclassified: components["schemas"]["UnclassifiedPlugin"][];
            /**
             * @description Modules that are not used, and modules with a plugin that another module also contains. Also
             *     SoundFonts in these folders that are not used because another SoundFont has the same id.
             *     Each entry has the reason.
             */
            ignored: components["schemas"]["ScanRemark"][];
            /** @description Folders that could not be searched, each with the reason. */
            unreadable: components["schemas"]["ScanRemark"][];
            /**
             * @description Whether the search stopped early at one of its limits: 8 levels of folders, 50,000 entries,
             *     2,000 modules and 2,000 SoundFonts.
             */
            truncated: boolean;
            /**
             * @description SoundFonts of the catalogue that are in these folders, and SoundFonts that the caller has
             *     uploaded.
             */
            soundfonts: components["schemas"]["ScannedSoundFont"][];
            /**
             * @description Whether a cached list of effects of any user was discarded. If so, clients should request
             *     their lists again.
             */
            fx_cache_invalidated: boolean;
            /** @description Time when the scan ended, RFC 3339. */
            scanned_at: string;
        };
        /** @description Time and validity of the last plugin scan. */
        ScanCache: {
            /**
             * Format: int32
             * @description How long a scan is valid, in seconds.
             */
            max_age_secs: number;
            /**
             * @description Time of the scan, RFC 3339; null if there is no scan, for example because the caller has no
             *     plugin folders.
             */
            scanned_at: string | null;
        };
        /** @description A SoundFont with a problem. */
        ScanProblem: {
            /** @description Id of the SoundFont. */
            soundfont_id: string;
            /** @description Path of the SoundFont's file. */
            path: string;
            /** @description Whether the SoundFont can be played, without its faulty parts. */
            usable: boolean;
            /** @description Reason why the SoundFont, or parts of it, cannot be played. */
            problem: string;
        };
        /** @description A file or folder with a remark. */
        ScanRemark: {
            /** @description Path of the file or folder. */
            path: string;
            /** @description Remark, such as the reason why the file is ignored. */
            reason: string;
        };
        /** @description A SoundFont in the caller's folders, or one that they uploaded. */
        ScannedSoundFont: {
            /** @description Id of the bank. */
            soundfont_id: string;
            /** @description Name of the bank. */
            name: string;
            /** @description Owner of the bank. */
            source: components["schemas"]["SoundFontSource"];
            /** @description Whether the bank can be played. */
            usable: boolean;
            /** @description Path of the bank's file; null if it was uploaded. */
            path: string | null;
            /** @description The folder of the caller that contains the file; null if it was uploaded. */
            directory: string | null;
        };
        /** @description Results of the scans. */
        Scans: {
            /** @description The scan for SoundFonts. */
            soundfonts: components["schemas"]["SoundFontScan"];
            /**
             * @description Each user's latest plugin scan since this process started. Users without a scan are left
             *     out. In `container`, all users share one scan.
             */
            plugins: components["schemas"]["PluginScan"][];
        };
        /** @description The part of a song that an export renders. */
        SelectionOptions: {
            range?: components["schemas"]["TickRange"] | null;
            /**
             * @description Ids of the only tracks to play, through the buses and the master, even if they are muted; by
             *     default all tracks.
             */
            tracks?: string[] | null;
        };
        /** @description Accepted values of a setting. */
        SettingDescription: {
            /** @description Name of the setting. */
            key: string;
            /**
             * @description `choice` (one of `choices`), `switch`, `whole` (a whole number), `number`, or `text` (may be
             *     null).
             */
            kind: string;
            /** @description Accepted values of a `choice`; empty for other kinds. */
            choices: string[];
            /**
             * Format: double
             * @description Minimum of a number; null for other kinds.
             */
            min: number | null;
            /**
             * Format: double
             * @description Maximum of a number; null for other kinds.
             */
            max: number | null;
            /** @description Maximum number of characters of a text; null for other kinds. */
            max_chars: number | null;
            /** @description Default value. */
            default: unknown;
            /** @description Description of the setting in one sentence. */
            about: string;
        };
        /** @description A list of all settings. */
        SettingList: {
            /** @description One entry for each setting. */
            items: components["schemas"]["SettingDescription"][];
        };
        /**
         * @description Faulty parts of a SoundFont (presets, zones, samples or modulators), which is played without
         *     them.
         */
        SkippedParts: {
            /** @description Number of skipped parts. */
            count: number;
            /** @description Location and fault of the first skipped parts, at most 20. */
            reasons: string[];
        };
        /** @description A SoundFont with its presets. */
        SoundFont: components["schemas"]["SoundFontSummary"] & {
            /** @description Presets of the SoundFont, ordered by bank and program. */
            presets: components["schemas"]["Preset"][];
        };
        /** @description Form with a SoundFont, for the API description. */
        SoundFontForm: {
            /**
             * Format: binary
             * @description An SF2 or SF3 file. The letters and digits of its name without the extension, in lower case,
             *     become the id.
             */
            file: string;
        };
        /**
         * @description Sample format of a SoundFont.
         * @enum {string}
         */
        SoundFontFormat: "sf2" | "sf3";
        /** @description Notes, and the SoundFont to play them with. */
        SoundFontRenderRequest: {
            /** @description Notes, as in a MIDI item of a project. */
            notes: components["schemas"]["Project.Note"][];
            /** @description Controls, as in a MIDI item of a project. */
            controls?: components["schemas"]["Project.Control"][];
            /**
             * @description Id of the SoundFont to play. By default it is the default SoundFont, which also replaces a
             *     missing one.
             */
            soundfont_id?: string | null;
            /**
             * Format: int32
             * @description SoundFont bank number, 0 by default; bank 128 contains the drum kits.
             */
            bank?: number;
            /**
             * Format: int32
             * @description Program number, 0 by default.
             */
            program?: number;
            /** @description Tempo changes as in a project; by default 120 quarter notes per minute. */
            tempo_map?: components["schemas"]["Project.TempoPoint"][];
            /** @description Unit of the times. */
            time_base?: components["schemas"]["TimeBase"];
            /** @enum {integer|null} */
            sample_rate_hz?: 44100 | 48000 | 96000 | null;
            /**
             * Format: double
             * @description Maximum tail after the last note, in seconds. The default is the maximum that the service
             *     allows. The tail ends earlier if it becomes silent.
             */
            tail_secs?: number | null;
            /** @description Settings of the engine, as in a project. */
            settings?: components["schemas"]["Project.Settings"];
            /**
             * @description If `true`, the file has four channels: left, right, and the sends to the reverb and to the
             *     chorus of a mix. Its channel mask is 0, because sends have no loudspeaker position.
             */
            sends?: boolean;
        };
        /** @description Result of the latest scan for SoundFonts. */
        SoundFontScan: {
            /** @description When the scan ended, RFC 3339. */
            scanned_at: string;
            /** @description Folders that are searched (`SF_SOUNDFONT_DIRS`). */
            folders: string[];
            /** @description Number of SoundFonts that were found. */
            found: number;
            /** @description Number of SoundFonts that can be played. */
            usable: number;
            /** @description Id of the SoundFont that replaces missing ones; null if there is none. */
            default_soundfont_id: string | null;
            /**
             * @description SoundFonts that cannot be played at all or only in part, and files whose id another
             *     SoundFont already has.
             */
            problems: components["schemas"]["ScanProblem"][];
        };
        /** @description A stored sound. */
        SoundFontSound: {
            /** @description Id of the sound, for `GET /plugins/sounds/{sound_id}`. */
            sound_id: string;
            /**
             * Format: int64
             * @description Length in frames.
             */
            frames: number;
            /**
             * Format: int32
             * @description Number of channels: 4 with `sends`, or else 2.
             */
            channels: number;
        };
        /**
         * @description Owner of a SoundFont.
         * @enum {string}
         */
        SoundFontSource: "system" | "upload";
        /** @description A SoundFont without its presets. */
        SoundFontSummary: {
            /**
             * @description Id of the bank: the letters and digits of its file name without the extension, in lower
             *     case.
             */
            soundfont_id: string;
            /** @description Name in the file or, if it has none, the file name without the extension. */
            name: string;
            /** @description Owner of the SoundFont. */
            source: components["schemas"]["SoundFontSource"];
            /** @description Sample format of the SoundFont. */
            format: components["schemas"]["SoundFontFormat"];
            /**
             * Format: int64
             * @description Size of the file in bytes.
             */
            size_bytes: number;
            /** @description SHA-256 of the file in hexadecimal; null if it could not be read. */
            content_hash: string | null;
            /** @description Whether this bank replaces missing banks. */
            default: boolean;
            /** @description Whether the bank can be played. */
            usable: boolean;
            /** @description Reason why the bank cannot be played; null if it can. */
            problem: string | null;
            /** @description Faulty parts of the bank, which are skipped. */
            skipped: components["schemas"]["SkippedParts"];
            /** @description Other SoundFonts with the same id. This SoundFont is played instead of them. */
            others: components["schemas"]["OtherSoundFont"][];
        };
        /** @description Answer to an upload. */
        SoundFontUpload: components["schemas"]["SoundFont"] & {
            /** @description The file that was sent. */
            uploaded: components["schemas"]["UploadedSoundFont"];
        };
        /** @description Sample format, dither, loudness and sample rate of a file. */
        SoundOptions: {
            bit_depth?: components["schemas"]["BitDepth"] | null;
            /**
             * @description Whether the quantization noise of integer samples is moved to frequencies at which the ear
             *     is least sensitive. This has an effect at 44100 and 48000 Hz; false by default.
             */
            noise_shaping?: boolean | null;
            normalize?: components["schemas"]["Normalize"] | null;
            /**
             * @description Whether to check how the mix sounds in mono: `/plugins/render` reports it in the receipt,
             *     and warns of octaves that a mono loudspeaker loses. Stems and frozen tracks cannot be
             *     checked.
             */
            channel_check?: boolean | null;
            /** @enum {integer|null} */
            sample_rate_hz?: 44100 | 48000 | 96000 | null;
        };
        /** @description The sounds of the plugins of a song. */
        SoundsAnswer: {
            /**
             * @description The outcome of each plugin instrument with notes and each audible plugin effect, in
             *     the order in which they were rendered.
             */
            sounds: components["schemas"]["PluginOutcome"][];
        };
        /** @description The song whose plugins render. */
        SoundsRequest: {
            /** @description Id of a stored project. A request must have either this or `project`. */
            project_id?: string | null;
            project?: components["schemas"]["Project"] | null;
        };
        /**
         * @description Point in the signal path at which a track is rendered.
         * @enum {string}
         */
        Stage: "before_fader" | "after_fader";
        /** @description The task that does the work of the request. */
        StartedTask: {
            /** @description Id of the task, for `/tasks/{id}`. */
            task_id: string;
        };
        /** @description The tracks to render as stems, and the options of the export. */
        StemsRequest: components["schemas"]["FileOptions"] & components["schemas"]["RenderOptions"] & {
            /**
             * @description Ids of tracks, buses and groups; by default those of all tracks that play something and are
             *     not muted. The stem of a bus or group contains the signal that passes through it.
             */
            tracks?: string[] | null;
            /**
             * @description Whether each track passes through the master's effects and limiter, as if only this track
             *     played; false by default. Such stems do not add up to the mix.
             */
            through_master?: boolean;
        };
        /** @description Stored data of all users, and sizes on the disk. */
        Storage: {
            /** @description The users, the largest total first. Audio that several users have counts for each of them. */
            users: components["schemas"]["UserStorage"][];
            /**
             * Format: int64
             * @description Size of all stored audio in bytes; identical files count once.
             */
            audio_disk_bytes: number;
            /**
             * Format: int64
             * @description Size of all uploaded SoundFonts in bytes; identical files count once.
             */
            soundfont_disk_bytes: number;
            /**
             * Format: int64
             * @description Size of all finished exports and stems in bytes.
             */
            render_disk_bytes: number;
            /**
             * Format: int64
             * @description Free space of the disk in bytes; null if the system does not report it.
             */
            free_bytes: number | null;
        };
        /** @description The part of a stored answer that concerns one file. */
        StoredAnswer: components["schemas"]["FileWithReceipt"] | components["schemas"]["AudioExport"];
        /** @description A preset with its content. */
        StoredPreset: components["schemas"]["PresetSummary"] & {
            /**
             * @description `effects` as on a track of a project, but without ids. An instrument also has a
             *     `synth_engine`. An export has options of `/plugins/render`.
             */
            content: Record<string, unknown>;
        };
        /** @description A tag, used only in the description of the API. */
        Tag: string;
        /** @description The tags of a file. */
        Tags: {
            /**
             * @description At most 50 tags of 1 to 64 characters. If tags differ only in case, only the first is
             *     stored.
             */
            tags: components["schemas"]["Tag"][];
        };
        /** @description A background task. */
        Task: {
            /** @description Id of the task, a UUID. */
            id: string;
            /** @description Kind of task, such as `render`. */
            kind: string;
            /** @description State of the task. */
            state: components["schemas"]["TaskState"];
            /**
             * Format: double
             * @description Progress of the task, from 0 to 1.
             */
            progress: number;
            /** @description Text for users about the current step; may be empty. */
            message: string;
            /** @description Time when the task was created, RFC 3339. */
            created_at: string;
            /** @description Time when the first attempt started, RFC 3339; null before that. */
            started_at: string | null;
            /** @description Time when the task ended, RFC 3339; null before that. */
            finished_at: string | null;
            /**
             * @description Result of the task: the body of the answer that a direct request would get. Null unless the
             *     task has succeeded.
             */
            result: unknown;
            /**
             * @description Problem that made the task fail, with `type`, `title`, `status`, `detail` and `code`. Null
             *     unless the task has failed.
             */
            error: unknown;
        };
        /** @description A server-sent event of the stream. */
        TaskEvent: {
            /** @description Name of the event: `task`. */
            event: string;
            /** @description The task, as JSON. */
            data: string;
        };
        /**
         * @description State of a task.
         * @enum {string}
         */
        TaskState: "queued" | "running" | "succeeded" | "failed" | "cancelled";
        /** @description An autosave with its project. */
        TempDocument: {
            /** @description Time of writing, RFC 3339. */
            updated_at: string;
            /** @description Id of the window that wrote the autosave. */
            client_id: string;
            /**
             * @description The project, upgraded to the current schema version. It may be invalid, because autosaves
             *     are not validated.
             */
            project: Record<string, unknown>;
        };
        /** @description Time and song of an autosave, and the window that wrote it. */
        TempRevision: {
            /** @description Time of writing, RFC 3339; null if there is no autosave. */
            updated_at: string | null;
            /** @description Id of the window that wrote the autosave; null if there is no autosave. */
            client_id: string | null;
            /** @description Id of the song; null if there is no autosave. */
            project_id: string | null;
        };
        /** @description An autosave in a request. */
        TempSave: {
            /**
             * @description Id of the browser window that writes the autosave. The window uses it to recognize its own
             *     writes.
             */
            client_id: string;
            /**
             * @description The project. It is upgraded, and stored even if it is invalid. It replaces the autosave of
             *     the song with the same `project_id`; a project without an id gets a new one.
             */
            project: Record<string, unknown>;
        };
        /** @description A template to store. */
        TemplateBody: {
            /** @description The title: 1 to 200 characters. */
            title: string;
            /** @description The text: 1 to 20000 characters, with `{{name}}` at the positions of variables. */
            body: string;
            /**
             * @description Keywords for searches: at most 20, each with 1 to 64 characters, which must differ not only
             *     in case. The default is an empty list.
             */
            keywords?: string[];
            /** @description Whether the template is a favourite; false by default. */
            favourite?: boolean;
        };
        /**
         * @description A tempo, estimated from the autocorrelation of the spectral flux. If weak and strong onsets
         *     alternate, a tempo below 80 or above 165 beats per minute may be doubled or halved.
         */
        TempoEstimate: {
            /**
             * Format: double
             * @description Beats per minute.
             */
            bpm: number;
            /**
             * Format: double
             * @description Regularity of the beat, 0.1 to 1.
             */
            regularity: number;
        };
        /** @description A throttled account or address. */
        Throttled: {
            /** @description Id of the entry. */
            id: string;
            /** @description Whether an account, an address or both are throttled. */
            kind: components["schemas"]["ThrottledKind"];
            /** @description Name of the account; null if the entry is about an address or an unknown name. */
            username: string | null;
            /**
             * @description IPv4 address, or IPv6 network such as `2001:db8:1:2::/64`; null if the entry is about an
             *     account.
             */
            address: string | null;
            /**
             * Format: int64
             * @description Number of failed log-ins; the count starts again after an hour without one. For an address,
             *     the number of failed accounts; for registrations, the number of all attempts, including
             *     successful ones.
             */
            failures: number;
            /** @description When the last log-in failed or the last registration arrived, RFC 3339. */
            last_failed_at: string;
            /**
             * Format: int64
             * @description Seconds until the next registration is admitted; 0 for log-ins, which wait in a queue
             *     instead.
             */
            retry_after_secs: number;
        };
        /**
         * @description The kind of a throttled entry.
         * @enum {string}
         */
        ThrottledKind: "account_at_address" | "address" | "account" | "registrations";
        /** @description A range of a song in ticks (960 per quarter note). */
        TickRange: {
            /**
             * Format: int32
             * @description First tick.
             */
            start_tick: number;
            /**
             * Format: int32
             * @description First tick after the range.
             */
            end_tick: number;
        };
        /**
         * @description Unit of `tick` and `length_ticks`.
         * @enum {string}
         */
        TimeBase: "ticks" | "seconds";
        /** @description A new token and its account. */
        TokenAnswer: {
            /** @description The token: send it as `Authorization: Bearer <token>`. */
            access_token: string;
            /** @description Always `bearer`. */
            token_type: string;
            /**
             * Format: int64
             * @description Seconds until the token expires.
             */
            expires_in: number;
            /** @description The account that has logged in. */
            user: components["schemas"]["UserView"];
        };
        /** @description A part of the folder tree. */
        Tree: components["schemas"]["Folder"] & {
            /** @description Whether the answer has its maximum of 5,000 folders, so that others may be missing. */
            truncated: boolean;
        };
        /** @description A plugin of unknown kind, or a module that could not be scanned. */
        UnclassifiedPlugin: {
            /** @description Name of the plugin or, if it is unknown, of its module. */
            name: string;
            /** @description Plugin format: VST2 or VST3. */
            format: components["schemas"]["VstFormat"];
            /** @description Path of the plugin's module. */
            path: string;
            /** @description Reason why the plugin's kind is unknown or the module could not be scanned. */
            reason: string;
        };
        /** @description Result of an upload. */
        UploadAnswer: {
            /** @description The stored files, in the order of the upload. */
            files: components["schemas"]["UploadedFile"][];
            /** @description The refused files, with the reasons. */
            refused: components["schemas"]["RefusedFile"][];
        };
        /** @description Files as a form, used only in the description of the API. */
        UploadForm: {
            /** @description The files. Each file is a part of the form. */
            file: string[];
        };
        /**
         * @description State of an upload.
         * @enum {string}
         */
        UploadState: "receiving" | "decoding" | "done" | "refused";
        /** @description State of a resumable upload. */
        UploadStatus: {
            /** @description Id of the upload. */
            id: string;
            /** @description Path of the upload in the API. */
            location: string;
            /** @description Name of the file. */
            name: string;
            /**
             * Format: int64
             * @description Size of the file in bytes, as announced by the client; null while the client defers it.
             */
            length_bytes: number | null;
            /**
             * Format: int64
             * @description Number of bytes received so far.
             */
            offset_bytes: number;
            /** @description When the upload expires, RFC 3339. Every received part extends this time. */
            expires_at: string;
            /** @description State of the upload. */
            state: components["schemas"]["UploadState"];
            /** @description Id of the task that decodes the file, once the upload is complete. */
            task_id: string | null;
            /** @description Id of the audio file, once it is stored. */
            audio_id: string | null;
        };
        /** @description A stored file. */
        UploadedFile: components["schemas"]["AudioFile"] & {
            /**
             * @description Whether the user already had a file with the same bytes. If so, the fields describe that
             *     file.
             */
            already_there: boolean;
        };
        /** @description The file that was sent. */
        UploadedSoundFont: {
            /** @description Sample format of the file. */
            format: components["schemas"]["SoundFontFormat"];
            /**
             * Format: int64
             * @description Size of the file in bytes, which counts towards the quota.
             */
            size_bytes: number;
            /** @description SHA-256 of the file in hexadecimal. */
            content_hash: string;
            /** @description Faulty parts of the bank, which are skipped. */
            skipped: components["schemas"]["SkippedParts"];
            /** @description Whether the caller already had the same file under this id. */
            already_there: boolean;
            /** @description Whether the file replaced another file of the caller with the same id and format. */
            replaced: boolean;
        };
        /** @description Changes of an account; missing fields stay unchanged. */
        UserChange: {
            role?: components["schemas"]["Role"] | null;
            /**
             * @description Whether the account is disabled. Disabling ends its tokens and its work, suspends its API
             *     keys and cancels its tasks.
             */
            disabled?: boolean | null;
            /**
             * Format: int64
             * @description Quota of audio in bytes, 0 to 2^50; with null, `SF_AUDIO_QUOTA_BYTES` applies.
             */
            audio_quota_bytes?: number | null;
        };
        /** @description A user's settings. */
        UserConfig: {
            /** @description The value of every setting by name: the user's value, or the default if the user set none. */
            settings: Record<string, unknown>;
            /** @description Names of the settings that the user has set. */
            set: string[];
            /** @description Time of the last change of a setting that is still set, RFC 3339; null if no setting is set. */
            updated_at: string | null;
        };
        /** @description Numbers and sizes of a user's stored data. */
        UserStorage: {
            /** @description Id of the account. */
            user_id: string;
            /** @description Name of the account. */
            username: string;
            /**
             * Format: int64
             * @description Number of audio files.
             */
            audio_files: number;
            /**
             * Format: int64
             * @description Size of the audio files with decoded copies, peaks and unfinished uploads, in bytes. It
             *     counts toward `audio_quota_bytes`.
             */
            audio_bytes: number;
            /**
             * Format: int64
             * @description Number of SoundFonts that the user uploaded; identical files count once.
             */
            soundfonts: number;
            /**
             * Format: int64
             * @description Size of these SoundFonts in bytes. It also counts toward `audio_quota_bytes`.
             */
            soundfont_bytes: number;
            /**
             * Format: int64
             * @description Quota for audio and SoundFonts together, in bytes.
             */
            audio_quota_bytes: number;
            /**
             * Format: int64
             * @description Number of projects.
             */
            projects: number;
            /**
             * Format: int64
             * @description Size of the kept revisions of projects and of the autosave, in bytes.
             */
            project_bytes: number;
            /**
             * Format: int64
             * @description Size of the inputs and results of tasks, in bytes. It counts toward the quota of projects.
             */
            task_bytes: number;
            /**
             * Format: int64
             * @description Size of finished exports, stems and sounds of plugins that are kept, in bytes.
             */
            render_bytes: number;
            /**
             * Format: int64
             * @description Sum of all sizes above, in bytes.
             */
            total_bytes: number;
        };
        /** @description A user as the API shows it. */
        UserView: {
            /** @description Id, a UUID. */
            id: string;
            /** @description Name to log in with. */
            username: string;
            /** @description Role of the user. */
            role: components["schemas"]["Role"];
            /** @description Whether the user must change the password before any other operation. */
            must_change_password: boolean;
            /** @description Whether the account has a password; in `standalone`, the administrator has none at first. */
            has_password: boolean;
        };
        /** @description Versions of this installation. */
        Version: {
            /** @description Version of the service. */
            version: string;
            /** @description Version of the API, as in the paths of its operations. */
            api_version: string;
            /** @description Version of the engine, as in receipts of renders. */
            engine_version: string;
            /**
             * Format: int64
             * @description Schema version of stored project documents.
             */
            schema_version: number;
        };
        /**
         * @description Method by which the actor was authenticated.
         * @enum {string}
         */
        Via: "local" | "token" | "api_key" | "command_line" | "nobody";
        /**
         * @description Format of a plugin.
         * @enum {string}
         */
        VstFormat: "vst2" | "vst3";
        /** @description A VST plugin. */
        VstPlugin: {
            /**
             * @description Identifies the plugin in projects, independently of its path: the 32 hexadecimal digits of a
             *     VST3 class id, or the 8 hexadecimal digits of a VST2 unique id.
             */
            plugin_id: string;
            /** @description Name of the plugin, from its module. */
            name: string;
            /** @description Plugin format: VST2 or VST3. */
            format: components["schemas"]["VstFormat"];
            /** @description Vendor of the plugin; empty if the module does not name one. */
            vendor: string;
            /** @description Version of the plugin as its vendor writes it; empty if the module has none. */
            version: string;
            /** @description Sub-categories of VST3, such as `Fx` and `Reverb`; empty for VST2. */
            categories: string[];
            /** @description Path of the plugin's module. */
            path: string;
        };
        /** @description Input of the user, in order. */
        WindowInput: {
            /**
             * Format: double
             * @description Width that the coordinates of the events refer to; they are scaled to the picture.
             */
            width: number;
            /**
             * Format: double
             * @description Height that the coordinates of the events refer to.
             */
            height: number;
            /** @description Events. */
            events: components["schemas"]["WindowInputEvent"][];
        };
        /** @description An event of the pointer or the keyboard. */
        WindowInputEvent: {
            /**
             * Format: double
             * @description Horizontal position, 0 to `width`.
             */
            x: number;
            /**
             * Format: double
             * @description Vertical position, 0 to `height`.
             */
            y: number;
            /** @enum {string} */
            type: "move";
        } | {
            /**
             * Format: double
             * @description Horizontal position, 0 to `width`.
             */
            x: number;
            /**
             * Format: double
             * @description Vertical position, 0 to `height`.
             */
            y: number;
            /**
             * Format: int32
             * @description 0 is the left button, 1 the middle one, 2 the right one.
             */
            button: number;
            /** @description Whether it is pressed. */
            down: boolean;
            /** @enum {string} */
            type: "button";
        } | {
            /**
             * Format: double
             * @description Horizontal position of the pointer, 0 to `width`.
             */
            x: number;
            /**
             * Format: double
             * @description Vertical position of the pointer, 0 to `height`.
             */
            y: number;
            /**
             * Format: int32
             * @description Steps to the right.
             */
            steps_x: number;
            /**
             * Format: int32
             * @description Steps downwards.
             */
            steps_y: number;
            /** @enum {string} */
            type: "wheel";
        } | {
            /** @description Name of the key, as `KeyboardEvent.key` of browsers has it. */
            key: string;
            /** @description Whether it is pressed. */
            down: boolean;
            /** @enum {string} */
            type: "key";
        } | {
            /** @description The text. */
            text: string;
            /** @enum {string} */
            type: "text";
        } | {
            /** @enum {string} */
            type: "release";
        };
        /** @description A new value of a parameter. */
        WindowParameter: {
            /**
             * Format: int32
             * @description Id of the parameter.
             */
            id: number;
            /**
             * Format: double
             * @description Normalized value.
             */
            value: number;
        };
        /** @description New values of parameters. */
        WindowParameters: {
            /** @description The values. */
            values: components["schemas"]["WindowParameter"][];
        };
        /** @description The state of the plugin of a window. */
        WindowState: {
            /** @description State in base64, as in the field `state` of a project. */
            state: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    get_admin_audit: {
        parameters: {
            query?: {
                /** @description Maximum number of entries on a page: 1 to 200, 50 by default. */
                limit?: number;
                /** @description `next_cursor` of the previous page. Leave it out to get the first page. */
                cursor?: string;
                /** @description Only entries with this action. */
                action?: "log_in" | "log_in_failed" | "log_out" | "log_out_everywhere" | "password_changed" | "password_change_failed" | "account_registered" | "api_key_created" | "render_shared" | "api_key_deleted" | "user_created" | "role_changed" | "user_disabled" | "user_enabled" | "quota_changed" | "password_reset" | "throttling_lifted" | "invite_created" | "invite_deleted" | "task_cancelled" | "scan_started" | "helper_ended" | "project_deleted" | "audio_deleted" | "soundfont_deleted" | "plugin_dir_added" | "plugin_dir_removed";
                /** @description Only entries that have the account with this name as actor or target. */
                user?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Entry"];
                };
            };
        };
    };
    get_admin_invites: {
        parameters: {
            query?: {
                /** @description Maximum number of entries on a page: 1 to 200, 50 by default. */
                limit?: number;
                /** @description `next_cursor` of the previous page. Leave it out to get the first page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Invite"];
                };
            };
        };
    };
    post_admin_invites: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewInvite"];
            };
        };
        responses: {
            /** @description Created; the body describes the new resource. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewInviteAnswer"];
                };
            };
        };
    };
    delete_admin_invites_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the invitation */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_admin_scans: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Scans"];
                };
            };
        };
    };
    post_admin_scans: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Scans"];
                };
            };
        };
    };
    get_admin_storage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Storage"];
                };
            };
        };
    };
    get_admin_tasks: {
        parameters: {
            query?: {
                /** @description Maximum number of entries on a page: 1 to 200, 50 by default. */
                limit?: number;
                /** @description `next_cursor` of the previous page. Leave it out to get the first page. */
                cursor?: string;
                /** @description Only tasks in this state. */
                state?: "queued" | "running" | "succeeded" | "failed" | "cancelled";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_OwnedTask"];
                };
            };
        };
    };
    delete_admin_tasks_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the task */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The task as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnedTask"];
                };
            };
        };
    };
    get_admin_throttled: {
        parameters: {
            query?: {
                /** @description Maximum number of entries on a page: 1 to 200, 50 by default. */
                limit?: number;
                /** @description `next_cursor` of the previous page. Leave it out to get the first page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Throttled"];
                };
            };
        };
    };
    delete_admin_throttled: {
        parameters: {
            query?: {
                /** @description Name of an account; upper and lower case count as equal. */
                username?: string;
                /** @description IP address, or IPv6 network that ends in `/64`. */
                address?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Lifted"];
                };
            };
        };
    };
    get_admin_users: {
        parameters: {
            query?: {
                /** @description Maximum number of entries on a page: 1 to 200, 50 by default. */
                limit?: number;
                /** @description `next_cursor` of the previous page. Leave it out to get the first page. */
                cursor?: string;
                /** @description Part of the user name; upper and lower case count as equal. */
                search?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Account"];
                };
            };
        };
    };
    post_admin_users: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewUser"];
            };
        };
        responses: {
            /** @description Created; the body describes the new resource. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProvidedUser"];
                };
            };
        };
    };
    get_admin_users_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the account */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    patch_admin_users_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the account */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UserChange"];
            };
        };
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    post_admin_users_id_reset_password: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the account */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProvidedUser"];
                };
            };
        };
    };
    get_ai_presets: {
        parameters: {
            query?: {
                /** @description Maximum number of entries on a page: 1 to 200, 50 by default. */
                limit?: number;
                /** @description `next_cursor` of the previous page. Leave it out to get the first page. */
                cursor?: string;
                /** @description A keyword; upper and lower case count as equal. */
                keyword?: string;
                /** @description Part of the title, the text or a keyword; upper and lower case count as equal. */
                search?: string;
                /** @description `true`: favourites only; `false`: only templates that are not favourites. */
                favourite?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_PromptTemplate"];
                };
            };
        };
    };
    post_ai_presets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TemplateBody"];
            };
        };
        responses: {
            /** @description Created; the body describes the new resource. */
            201: {
                headers: {
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PromptTemplate"];
                };
            };
        };
    };
    get_ai_presets_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the template */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PromptTemplate"];
                };
            };
        };
    };
    put_ai_presets_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the template */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TemplateBody"];
            };
        };
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PromptTemplate"];
                };
            };
        };
    };
    delete_ai_presets_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the template */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    put_ai_presets_id_favourite: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the template */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Favourite"];
            };
        };
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PromptTemplate"];
                };
            };
        };
    };
    post_ai_presets_id_render: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the template */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RenderTemplate"];
            };
        };
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RenderedTemplate"];
                };
            };
        };
    };
    post_ai_proxy_v1_chat_completions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The request as in OpenAI's `chat/completions`, with `model`, `messages` and other fields */
        requestBody: {
            content: {
                "application/json": Record<string, unknown>;
            };
        };
        responses: {
            /** @description The answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, unknown>;
                };
            };
        };
    };
    get_ai_proxy_v1_models: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelList"];
                };
            };
        };
    };
    get_audio: {
        parameters: {
            query?: {
                /** @description Maximum number of entries on a page: 1 to 200, 50 by default. */
                limit?: number;
                /** @description `next_cursor` of the previous page. Leave it out to get the first page. */
                cursor?: string;
                /** @description Part of the name; upper and lower case count as equal. */
                search?: string;
                /** @description A tag that the files have; upper and lower case count as equal. */
                tag?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_AudioFile"];
                };
            };
        };
    };
    post_audio_export: {
        parameters: {
            query?: {
                /**
                 * @description If `true`, the answer is 202 with a task immediately. The task's result is the direct
                 *     answer.
                 */
                async?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AudioExportRequest"];
            };
        };
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AudioExport"];
                };
            };
            /** @description Started; the body names the task that continues the work. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedTask"];
                };
            };
        };
    };
    post_audio_reference: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReferenceRequest"];
                "multipart/form-data": components["schemas"]["UploadForm"];
            };
        };
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReferenceAnswer"];
                };
            };
        };
    };
    post_audio_upload: {
        parameters: {
            query?: {
                /**
                 * @description If `true`, the answer is 202 with a task as soon as the bytes have been received. The task
                 *     decodes the files, and its result is the answer described here.
                 */
                async?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["UploadForm"];
            };
        };
        responses: {
            /** @description Created; the body describes the new resource. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadAnswer"];
                };
            };
            /** @description Started; the body names the task that continues the work. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedTask"];
                };
            };
        };
    };
    get_audio_uploads: {
        parameters: {
            query?: {
                /** @description Maximum number of entries on a page: 1 to 200, 50 by default. */
                limit?: number;
                /** @description `next_cursor` of the previous page. Leave it out to get the first page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_UploadStatus"];
                };
            };
        };
    };
    post_audio_uploads: {
        parameters: {
            query?: never;
            header: {
                "Tus-Resumable": "1.0.0";
                /** @description Size of the file in bytes */
                "Upload-Length"?: number;
                /** @description 1 instead of `Upload-Length` if the size is not known yet */
                "Upload-Defer-Length"?: number;
                /** @description `filename`, a space, and the name of the file in base64 */
                "Upload-Metadata"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created */
            201: {
                headers: {
                    Location?: string;
                    "Upload-Expires"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    options_audio_uploads: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The headers describe the supported protocol */
            204: {
                headers: {
                    "Tus-Checksum-Algorithm"?: string;
                    "Tus-Extension"?: string;
                    "Tus-Max-Size"?: number;
                    "Tus-Version"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_audio_uploads_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the upload */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadStatus"];
                };
            };
        };
    };
    delete_audio_uploads_id: {
        parameters: {
            query?: never;
            header: {
                "Tus-Resumable": "1.0.0";
            };
            path: {
                /** @description Id of the upload */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    head_audio_uploads_id: {
        parameters: {
            query?: never;
            header: {
                "Tus-Resumable": "1.0.0";
            };
            path: {
                /** @description Id of the upload */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The headers describe the state */
            200: {
                headers: {
                    "Upload-Defer-Length"?: number;
                    "Upload-Expires"?: string;
                    "Upload-Length"?: number;
                    "Upload-Metadata"?: string;
                    "Upload-Offset"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    patch_audio_uploads_id: {
        parameters: {
            query?: never;
            header: {
                "Tus-Resumable": "1.0.0";
                /** @description Number of bytes received so far */
                "Upload-Offset": number;
                /** @description Size of the file in bytes, if it was deferred; once it is known */
                "Upload-Length"?: number;
                /** @description `sha1` or `sha256`, and the checksum of the body in base64 */
                "Upload-Checksum"?: string;
            };
            path: {
                /** @description Id of the upload */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/offset+octet-stream": string;
            };
        };
        responses: {
            /** @description Appended */
            204: {
                headers: {
                    /** @description After the last byte: the task that decodes the upload */
                    "Songfoundry-Task-Id"?: string;
                    "Upload-Expires"?: string;
                    "Upload-Offset"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_audio_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the file */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AudioFile"];
                };
            };
        };
    };
    delete_audio_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the file */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    post_audio_id_analyze: {
        parameters: {
            query?: {
                /** @description If `true`, the answer is 202 with a task. The task's result is the answer described here. */
                async?: boolean;
            };
            header?: never;
            path: {
                /** @description Id of the file */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AudioAnalysis"];
                };
            };
            /** @description Started; the body names the task that continues the work. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedTask"];
                };
            };
        };
    };
    get_audio_id_file: {
        parameters: {
            query?: {
                /**
                 * @description `original`, the default, or `wav32f`: the samples that the browser and the service play, as
                 *     a 32-bit float WAV file.
                 */
                format?: "original" | "wav32f";
                /**
                 * @description Only with `wav32f`: sample rate in hertz. It may be a rate that a project can have (44100,
                 *     48000 or 96000), or the rate of the file, which is the default.
                 */
                sample_rate_hz?: number;
            };
            header?: never;
            path: {
                /** @description Id of the file */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file */
            200: {
                headers: {
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "audio/wav": unknown;
                };
            };
            /** @description The requested range */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_audio_id_peaks: {
        parameters: {
            query?: {
                /** @description `dat`, the default, or `json`. */
                format?: "dat" | "json";
                /** @description Width of the values in bits: 8 or 16 (the default). */
                bits?: number;
                /**
                 * @description Frames per pixel: a power of two from 1 to 65536. The default is 256. Without `start` and
                 *     `pixels`, the default is the finest of 256 to 65536 at which the complete file fits into one
                 *     answer.
                 */
                samples_per_pixel?: number;
                /** @description First pixel, 0 by default. */
                start?: number;
                /**
                 * @description Number of pixels; by default all from `start` on. At most 1048576, or 65536 if a pixel has
                 *     fewer than 256 frames.
                 */
                pixels?: number;
            };
            header?: never;
            path: {
                /** @description Id of the file */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The peaks */
            200: {
                headers: {
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Peaks"];
                    "application/octet-stream": string;
                };
            };
        };
    };
    post_audio_id_process: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the file */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AudioRecipe"];
            };
        };
        responses: {
            /** @description The task; its result is a `ProcessedAudio` */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedTask"];
                };
            };
        };
    };
    put_audio_id_tags: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the file */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Tags"];
            };
        };
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AudioFile"];
                };
            };
        };
    };
    get_auth_api_keys: {
        parameters: {
            query?: {
                /** @description Maximum number of entries on a page: 1 to 200, 50 by default. */
                limit?: number;
                /** @description `next_cursor` of the previous page. Leave it out to get the first page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyList"];
                };
            };
        };
    };
    post_auth_api_keys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewApiKey"];
            };
        };
        responses: {
            /** @description Created; the body describes the new resource. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MadeApiKey"];
                };
            };
        };
    };
    delete_auth_api_keys_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the key */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    post_auth_local: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenAnswer"];
                };
            };
        };
    };
    post_auth_login: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Credentials"];
            };
        };
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenAnswer"];
                };
            };
        };
    };
    post_auth_logout: {
        parameters: {
            query?: {
                /**
                 * @description `false`, the default: ends this log-in, with all tokens that were issued for it. `true`:
                 *     ends every log-in of the account.
                 */
                everywhere?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tokens have ended */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_auth_me: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
        };
    };
    post_auth_password: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordChange"];
            };
        };
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenAnswer"];
                };
            };
        };
    };
    post_auth_password_strength: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordCandidate"];
            };
        };
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasswordStrength"];
                };
            };
        };
    };
    post_auth_refresh: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenAnswer"];
                };
            };
        };
    };
    post_auth_register: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAccount"];
            };
        };
        responses: {
            /** @description Created; the body describes the new resource. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenAnswer"];
                };
            };
        };
    };
    get_files_processes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HelperList"];
                };
            };
        };
    };
    delete_files_processes_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the helper */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process was signalled to end */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Helper"];
                };
            };
        };
    };
    post_files_save: {
        parameters: {
            query: {
                /** @description Name of the file with its extension. Characters that are not safe in names become `_`. */
                name: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The file */
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description Created; the body describes the new resource. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedFile"];
                };
            };
        };
    };
    get_media_drives: {
        parameters: {
            query?: {
                /** @description Maximum number of entries on a page: 1 to 200, 50 by default. */
                limit?: number;
                /** @description `next_cursor` of the previous page. Leave it out to get the first page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DriveList"];
                };
            };
        };
    };
    get_media_files: {
        parameters: {
            query: {
                /** @description Maximum number of entries on a page: 1 to 200, 50 by default. */
                limit?: number;
                /** @description `next_cursor` of the previous page. Leave it out to get the first page. */
                cursor?: string;
                /** @description Absolute path of the folder. */
                path: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_MediaFile"];
                };
            };
        };
    };
    post_media_import: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MediaImport"];
            };
        };
        responses: {
            /** @description Created; the body describes the new resource. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportedMedia"];
                };
            };
        };
    };
    get_media_tree: {
        parameters: {
            query: {
                /** @description Absolute path of the folder to list. */
                path: string;
                /** @description Number of levels below the folder: 1 (the default) to 5. */
                depth?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tree"];
                };
            };
        };
    };
    post_multitrack_freeze: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FreezeRequest"];
            };
        };
        responses: {
            /** @description The task; its result is a `Frozen` */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedTask"];
                };
            };
        };
    };
    post_multitrack_midi_export: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExportRequest"];
            };
        };
        responses: {
            /** @description The file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "audio/midi": unknown;
                };
            };
        };
    };
    post_multitrack_midi_import: {
        parameters: {
            query?: {
                /** @description Id of the SoundFont bank that the tracks play; the default bank if absent. */
                soundfont_id?: string;
                /** @description Name of the project; if absent, the name in the MIDI file. */
                name?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The file */
        requestBody: {
            content: {
                "audio/midi": string;
            };
        };
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportAnswer"];
                };
            };
        };
    };
    post_multitrack_mixdown: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MixdownRequest"];
            };
        };
        responses: {
            /** @description The task; its result is a `Mixdown` */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedTask"];
                };
            };
        };
    };
    post_multitrack_stems: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StemsRequest"];
            };
        };
        responses: {
            /** @description The task; its result is a `Stems` */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedTask"];
                };
            };
        };
    };
    get_multitrack_stems_stems_id_file: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the archive */
                stems_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The archive */
            200: {
                headers: {
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/zip": unknown;
                };
            };
            /** @description The requested range */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_plugins_available: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Available"];
                };
            };
        };
    };
    get_plugins_dirs: {
        parameters: {
            query?: {
                /** @description Maximum number of entries on a page: 1 to 200, 50 by default. */
                limit?: number;
                /** @description `next_cursor` of the previous page. Leave it out to get the first page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginDirs"];
                };
            };
        };
    };
    post_plugins_dirs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PluginDir"];
            };
        };
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginDirs"];
                };
            };
        };
    };
    delete_plugins_dirs: {
        parameters: {
            query: {
                /** @description Absolute path of the folder, as in the list. */
                path: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginDirs"];
                };
            };
        };
    };
    get_plugins_effects: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EffectsAnswer"];
                };
            };
        };
    };
    post_plugins_fx_gui_close: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CloseWindowRequest"];
            };
        };
        responses: {
            /** @description The window is closed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_plugins_fx_gui_window_id_frame: {
        parameters: {
            query?: {
                /**
                 * @description `1` for a stream of pictures: each one that differs from the last is a part of
                 *     `multipart/x-mixed-replace`.
                 */
                stream?: number;
            };
            header?: never;
            path: {
                /** @description Id of the window */
                window_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The picture, or a stream of pictures */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/jpeg": unknown;
                };
            };
        };
    };
    post_plugins_fx_gui_window_id_hide: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the window */
                window_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The window is hidden */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    post_plugins_fx_gui_window_id_input: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the window */
                window_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WindowInput"];
            };
        };
        responses: {
            /** @description The window gets the input */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_plugins_fx_gui_window_id_live: {
        parameters: {
            query?: {
                /** @description Token or API key of the caller */
                token?: string;
            };
            header?: never;
            path: {
                /** @description Id of the window */
                window_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    post_plugins_fx_gui_window_id_parameters: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the window */
                window_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WindowParameters"];
            };
        };
        responses: {
            /** @description The plugin gets the values */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_plugins_fx_gui_window_id_ping: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the window */
                window_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The window is open */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    post_plugins_fx_gui_window_id_show: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the window */
                window_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The window is shown */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_plugins_fx_gui_window_id_state: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the window */
                window_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WindowState"];
                };
            };
        };
    };
    post_plugins_midi_render: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MidiRenderRequest"];
            };
        };
        responses: {
            /** @description The sound */
            200: {
                headers: {
                    /** @description `silent` if the file is silent although there are notes, and `non_finite_samples=N` if the plugin produced samples that are infinite or not a number, which are 0 in the file; empty if there are none */
                    "X-Plugin-Warnings"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "audio/wav": unknown;
                };
            };
        };
    };
    post_plugins_open_fx_gui: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenWindowRequest"];
            };
        };
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenedWindow"];
                };
            };
        };
    };
    post_plugins_parameters: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ParametersRequest"];
            };
        };
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ParameterList"];
                };
            };
        };
    };
    post_plugins_pick_dir: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PickedDir"];
                };
            };
        };
    };
    post_plugins_preset_file: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PresetFileRequest"];
            };
        };
        responses: {
            /** @description The file, whose name is that of the plugin */
            200: {
                headers: {
                    "Content-Disposition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": unknown;
                };
            };
        };
    };
    post_plugins_render: {
        parameters: {
            query?: {
                /**
                 * @description If `true`, the answer is 202 with a task immediately. The task's result is the direct
                 *     answer.
                 */
                async?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RenderRequest"];
            };
        };
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RenderAnswer"];
                };
            };
            /** @description Started; the body names the task that continues the work. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedTask"];
                };
            };
        };
    };
    get_plugins_renders: {
        parameters: {
            query?: {
                /** @description Only the renders of this project. */
                project_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Renders"];
                };
            };
        };
    };
    get_plugins_renders_render_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the render */
                render_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredAnswer"];
                };
            };
        };
    };
    delete_plugins_renders_render_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the render */
                render_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    post_plugins_renders_render_id_analyze: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the render */
                render_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReferenceAnswer"];
                };
            };
        };
    };
    get_plugins_renders_render_id_file: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the render */
                render_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file */
            200: {
                headers: {
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "audio/wav": unknown;
                };
            };
            /** @description The requested range */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    post_plugins_renders_render_id_link: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the render */
                render_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LinkRequest"];
            };
        };
        responses: {
            /** @description Created; the body describes the new resource. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RenderLink"];
                };
            };
        };
    };
    post_plugins_scan: {
        parameters: {
            query?: {
                /**
                 * @description If `true`, the answer is 202 with a task immediately. The task's result is the direct
                 *     answer. Its message names the module that is being scanned.
                 */
                async?: boolean;
                /**
                 * @description Path of one module, as in `unclassified`, that is scanned again even if it has not changed.
                 *     Other modules whose last scan failed are then not tried again.
                 */
                module?: string;
                /**
                 * @description Maximum time for scanning `module`, in seconds: 1 to 600. Later scans of this module have
                 *     the same limit. By default its last limit, or else `SF_PLUGIN_SCAN_MAX_SECS`.
                 */
                max_secs?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScanAnswer"];
                };
            };
            /** @description Started; the body names the task that continues the work. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedTask"];
                };
            };
        };
    };
    post_plugins_soundfont_render: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SoundFontRenderRequest"];
            };
        };
        responses: {
            /** @description The sound */
            200: {
                headers: {
                    /** @description `true` if it replaced a missing SoundFont */
                    "X-Soundfont-Fallback"?: string;
                    /** @description The SoundFont that was played */
                    "X-Soundfont-Id"?: string;
                    /** @description Presets that the notes select but the SoundFont does not have, and what was played instead, such as `8:3=0:3, 5:9=none`; empty if there are none */
                    "X-Soundfont-Missing-Presets"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "audio/wav": unknown;
                };
            };
        };
    };
    post_plugins_soundfont_sounds: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SoundFontRenderRequest"];
            };
        };
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SoundFontSound"];
                };
            };
        };
    };
    get_plugins_soundfonts_catalog: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CatalogAnswer"];
                };
            };
        };
    };
    get_plugins_soundfonts_download_sf_id: {
        parameters: {
            query?: {
                /**
                 * @description Pairs `bank:program` such as `0:0,0:33,128:0`, at most 4096. The answer is then an SF2 file
                 *     with only these presets and PCM samples. Renders with this file are bit-identical to renders
                 *     with the whole bank. If the bank lacks a preset, the file has the preset that would be
                 *     played instead. By default, the answer is the unchanged file.
                 */
                presets?: string;
            };
            header?: never;
            path: {
                /** @description Id of the SoundFont */
                sf_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file */
            200: {
                headers: {
                    ETag?: string;
                    /** @description `true` if this bank replaces the requested one */
                    "X-Soundfont-Fallback"?: string;
                    /** @description Id of the bank that is sent */
                    "X-Soundfont-Id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": unknown;
                };
            };
            /** @description The requested range */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    post_plugins_soundfonts_upload: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["SoundFontForm"];
            };
        };
        responses: {
            /** @description Created; the body describes the new resource. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SoundFontUpload"];
                };
            };
        };
    };
    delete_plugins_soundfonts_sf_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the SoundFont */
                sf_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    /** @description `system` if a SoundFont of the system now has this id; otherwise absent */
                    "X-Soundfont-Instead"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    post_plugins_sounds: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SoundsRequest"];
            };
        };
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SoundsAnswer"];
                };
            };
        };
    };
    get_plugins_sounds_sound_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the sound */
                sound_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sound */
            200: {
                headers: {
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "audio/wav": unknown;
                };
            };
            /** @description The requested range */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_plugins_vst_fx_process: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    post_plugins_vst_fx_process: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    get_plugins_vst_render: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    post_plugins_vst_render: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    get_plugins_ws_fx_realtime: {
        parameters: {
            query?: {
                /** @description Token or API key of the caller */
                token?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    get_presets: {
        parameters: {
            query?: {
                /** @description Maximum number of entries on a page: 1 to 200, 50 by default. */
                limit?: number;
                /** @description `next_cursor` of the previous page. Leave it out to get the first page. */
                cursor?: string;
                /** @description `instrument`, `effect_chain` or `export`; all by default. */
                kind?: "instrument" | "effect_chain" | "export";
                /** @description `factory` or `user`; both by default. */
                source?: "factory" | "user";
                /** @description Text in the name, the category or the description, in upper or lower case. */
                search?: string;
                /** @description The whole category, in upper or lower case. */
                category?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_PresetSummary"];
                };
            };
        };
    };
    post_presets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PresetBody"];
            };
        };
        responses: {
            /** @description Created; the body describes the new resource. */
            201: {
                headers: {
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredPreset"];
                };
            };
        };
    };
    get_presets_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the preset */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredPreset"];
                };
            };
        };
    };
    put_presets_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the preset */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PresetBody"];
            };
        };
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredPreset"];
                };
            };
        };
    };
    delete_presets_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the preset */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_projects: {
        parameters: {
            query?: {
                /** @description Maximum number of entries on a page: 1 to 200, 50 by default. */
                limit?: number;
                /** @description `next_cursor` of the previous page. Leave it out to get the first page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ProjectSummary"];
                };
            };
        };
    };
    post_projects: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Project"];
            };
        };
        responses: {
            /** @description Created; the body describes the new resource. */
            201: {
                headers: {
                    ETag?: string;
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Saved"];
                };
            };
        };
    };
    post_projects_import: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The archive */
        requestBody: {
            content: {
                "application/zip": string;
            };
        };
        responses: {
            /** @description Created; the body describes the new resource. */
            201: {
                headers: {
                    ETag?: string;
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Imported"];
                };
            };
        };
    };
    post_projects_import_dawproject: {
        parameters: {
            query?: {
                /** @description Name of the project if the file has no title, for example the name of the file. */
                name?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The file */
        requestBody: {
            content: {
                "application/zip": string;
            };
        };
        responses: {
            /** @description Created; the body describes the new resource. */
            201: {
                headers: {
                    ETag?: string;
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DawprojectImported"];
                };
            };
        };
    };
    get_projects_temp: {
        parameters: {
            query?: {
                /** @description Id of the song. The default is the song whose autosave was written last. */
                project_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TempDocument"];
                };
            };
        };
    };
    put_projects_temp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TempSave"];
            };
        };
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TempRevision"];
                };
            };
        };
    };
    delete_projects_temp: {
        parameters: {
            query?: {
                /** @description Id of the song. The default is the song whose autosave was written last. */
                project_id?: string;
                /**
                 * @description Id of a window. If it is given, the autosave is deleted only if this window wrote it. A
                 *     window that saves a song therefore does not delete a later autosave of another window.
                 */
                client_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The autosave is deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_projects_temp_raw: {
        parameters: {
            query?: {
                /** @description Id of the song. The default is the song whose autosave was written last. */
                project_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stored text */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, unknown>;
                };
            };
        };
    };
    get_projects_temp_revision: {
        parameters: {
            query?: {
                /** @description Id of the song. The default is the song whose autosave was written last. */
                project_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TempRevision"];
                };
            };
        };
    };
    get_projects_temp_songs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AutosaveList"];
                };
            };
        };
    };
    post_projects_upgrade: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Project"];
            };
        };
        responses: {
            /** @description The document, upgraded to the current schema version; only saving validates it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, unknown>;
                };
            };
        };
    };
    get_projects_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    /** @description The revision */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
        };
    };
    put_projects_id: {
        parameters: {
            query?: never;
            header: {
                /** @description The revision as an entity tag, such as "3" */
                "If-Match": string;
            };
            path: {
                /** @description Id of the project */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Project"];
            };
        };
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Saved"];
                };
            };
        };
    };
    delete_projects_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_projects_id_bundle: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The archive */
            200: {
                headers: {
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/zip": unknown;
                };
            };
            /** @description The requested range */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_projects_id_dawproject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file */
            200: {
                headers: {
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/zip": unknown;
                };
            };
            /** @description The requested range */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    post_projects_id_duplicate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created; the body describes the new resource. */
            201: {
                headers: {
                    ETag?: string;
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Saved"];
                };
            };
        };
    };
    get_projects_id_raw: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stored text */
            200: {
                headers: {
                    /** @description The revision */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
        };
    };
    get_projects_id_revisions: {
        parameters: {
            query?: {
                /** @description Maximum number of entries on a page: 1 to 200, 50 by default. */
                limit?: number;
                /** @description `next_cursor` of the previous page. Leave it out to get the first page. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Id of the project */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_RevisionSummary"];
                };
            };
        };
    };
    get_projects_id_revisions_n_raw: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project */
                id: string;
                /** @description The revision */
                n: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stored text */
            200: {
                headers: {
                    /** @description The revision */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, unknown>;
                };
            };
        };
    };
    post_projects_id_revisions_n_restore: {
        parameters: {
            query?: never;
            header?: {
                /** @description Restore only if this is the current revision */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the project */
                id: string;
                /** @description The revision to restore */
                n: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Saved"];
                };
            };
        };
    };
    get_shared_render: {
        parameters: {
            query: {
                /** @description Token that the link contains. */
                token: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file */
            200: {
                headers: {
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "audio/wav": unknown;
                };
            };
            /** @description The requested range */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_system_capabilities: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Capabilities"];
                };
            };
        };
    };
    get_system_log: {
        parameters: {
            query?: {
                /** @description Maximum number of lines, 1 to 1000; 200 by default. The newest lines are returned. */
                limit?: number;
                /** @description Lowest level of the lines to return. */
                level?: "trace" | "debug" | "info" | "warn" | "error";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogLines"];
                };
            };
        };
    };
    get_system_runtime: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Runtime"];
                };
            };
        };
    };
    get_system_version: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Version"];
                };
            };
        };
    };
    get_tasks: {
        parameters: {
            query?: {
                /** @description Maximum number of entries on a page: 1 to 200, 50 by default. */
                limit?: number;
                /** @description `next_cursor` of the previous page. Leave it out to get the first page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Task"];
                };
            };
        };
    };
    get_tasks_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the task */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    delete_tasks_id: {
        parameters: {
            query?: {
                /**
                 * @description If `true`, a task that has ended is removed, and its result no longer counts towards the
                 *     quota. A task that has not ended is only cancelled.
                 */
                remove?: boolean;
            };
            header?: never;
            path: {
                /** @description Id of the task */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The task, or its last state if it was removed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    get_tasks_id_events: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the task */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Events named `task`, each with a task as JSON */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["TaskEvent"];
                };
            };
        };
    };
    get_user_config: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserConfig"];
                };
            };
        };
    };
    put_user_config: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Values by the names of settings */
        requestBody: {
            content: {
                "application/json": Record<string, unknown>;
            };
        };
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserConfig"];
                };
            };
        };
    };
    delete_user_config: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserConfig"];
                };
            };
        };
    };
    patch_user_config: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Values by the names of settings */
        requestBody: {
            content: {
                "application/json": Record<string, unknown>;
            };
        };
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserConfig"];
                };
            };
        };
    };
    get_user_config_settings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Succeeded; the body contains the result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SettingList"];
                };
            };
        };
    };
}
